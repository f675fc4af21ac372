// Command sonde is an oscilloscope for LLM inference in a terminal.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"sonde/config"
	"sonde/gpu/nvml"
	"sonde/probe/bench"
	"sonde/probe/diagnose"
	"sonde/probe/doctor"
	"sonde/probe/level"
	"sonde/probe/report"
	"sonde/probe/setup"
	"sonde/probe/sim"
	"sonde/probe/slo"
	"sonde/probe/sweep"
	"sonde/ui"
)

// Set by the linker for releases.
var version, commit, date string

func main() {
	// A token costs about one allocation: collecting twice as often as usual is
	// hardly felt, and the tool stays small on the machine that it watches.
	debug.SetGCPercent(50)
	build := config.BuildInfo{Version: version, Commit: commit, Date: date, NVML: nvml.Built}
	actions := config.Actions{
		"": live, "bench": benchLoad, "sweep": sweepLoads, "sim": serve, "doctor": examine, "plan": plan, "replay": replay, "compare": compareRuns, "merge": mergeSummaries,
		"canary":            watchOver,
		"worker":            work,
		config.ServerAction: func(context.Context, config.Config) error { return doctor.ServeScripted() },
	}
	os.Exit(config.Execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr, build, actions))
}

// roomyHeap makes collections of garbage rare while a load runs: each makes some arrivals late by a millisecond
// or more. What is never touched takes no memory and counts as heap, so that there are 32 MB between two of them
// at least. It returns what ends that.
func roomyHeap() (end func()) {
	ballast := make([]byte, 64<<20)
	return func() { runtime.KeepAlive(ballast) }
}

// quickAnswer is how long the screen waits for the server's first answer, so
// that a wrong address is one line and not a screen that flashes.
const quickAnswer = 150 * time.Millisecond

// live shows the screen.
func live(ctx context.Context, c config.Config) error {
	if err := ui.CheckTerminal(os.Stdin, os.Stdout, "use `sonde bench` for a run without a screen"); err != nil {
		return setup.Usage(err)
	}
	defer roomyHeap()()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	other, err := behind(ctx, c)
	if err != nil {
		return err
	}
	m, err := setup.Open(ctx, c, version)
	if err != nil {
		return err
	}
	defer closing(m)
	levels := level.NewBook(m.Plan.SLOs)
	sweeper := sweep.NewController(m.Session, levels)
	keeper := bench.NewKeeper(m.Plan, levels, sweeper.Add)
	m.Follow(keeper.Add)
	select {
	case err := <-m.Connect(ctx, m.Session.Begin):
		if err != nil {
			return err
		}
	case <-time.After(quickAnswer):
	}
	judge := diagnose.New()
	judge.SetSLOs(m.Plan.SLOs)
	judge.Share(levels)
	screen, stop := setup.Interruptible(ctx)
	defer stop()
	err = ui.Run(screen, ui.Options{
		Frames: m.Session, Controls: m.Session, Judge: judge, SLOs: m.Plan.SLOs,
		SetSLOs: func(targets []slo.Target) {
			levels.SetSLOs(targets)
			judge.SetSLOs(targets)
			judge.Share(levels)
		},
		Levels: levels, Sweeper: sweeper, Rehearsal: m.Rehearsal(), Other: other,
		Save:  func(svg string) (string, error) { return report.Save(".", keeper, time.Now(), svg) },
		ASCII: c.ASCII, Color: c.Color, Theme: c.Theme,
	})
	closing(m)
	fmt.Print(report.Brief(keeper))
	return err
}

// behind is the run that --against names; nil without one.
func behind(ctx context.Context, c config.Config) (ui.Other, error) {
	if c.Against == "" {
		return nil, nil
	}
	a, err := setup.OpenAgainst(ctx, c.Against, ui.ColumnWidth)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// benchLoad runs one load without a screen.
func benchLoad(ctx context.Context, c config.Config) error {
	return unattended(ctx, c, func(ctx context.Context, m *setup.Measurement, p *report.ProgressLine) (outcome, error) {
		o, err := bench.Run(ctx, m.Session, m.Plan, p.Show)
		return report.New(&o), err
	})
}

// sweepLoads tries a ladder of loads without a screen.
func sweepLoads(ctx context.Context, c config.Config) error {
	return unattended(ctx, c, func(ctx context.Context, m *setup.Measurement, p *report.ProgressLine) (outcome, error) {
		o, err := bench.RunSweep(ctx, m.Session, m.Plan, setup.Ladder(c), p)
		s := report.NewSweep(&o)
		err = errors.Join(err, s.Illustrate(c.Out, c.Format))
		return s, err
	})
}

// outcome is what a run without a screen amounts to.
type outcome interface {
	report.Document
	ExitCode() int
}

// unattended measures without a screen and writes the outcome.
func unattended(ctx context.Context, c config.Config, run func(context.Context, *setup.Measurement, *report.ProgressLine) (outcome, error)) error {
	if err := report.CheckOut(c.Out); err != nil {
		return setup.Usage(err)
	}
	defer roomyHeap()()
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	// The session outlives the interrupt: what is in flight is still recorded.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	m, err := setup.Open(running, c, version)
	if err != nil {
		return err
	}
	defer closing(m)
	progress := report.NewProgressLine(os.Stderr)
	m.Follow(progress.Notes)
	select {
	case err = <-m.Connect(running, func() {}):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	result, err := run(ctx, m, progress)
	progress.Clear()
	closing(m)
	return ended(ctx, result, c, err)
}

// ended writes what a run amounts to, and gives what it ends with: the run's own error,
// the signal that ended it, or its exit code.
func ended(ctx context.Context, result outcome, c config.Config, err error) error {
	writeErr := report.Write(result, c.Out, c.Format, c.Color, os.Stdout)
	switch cause := context.Cause(ctx); {
	case writeErr != nil:
		return writeErr
	case err != nil:
		return err
	case cause != nil:
		return cause
	case result.ExitCode() != 0:
		return &config.ExitError{Code: result.ExitCode()}
	}
	return nil
}

// closing ends a measurement and says what went wrong with it.
func closing(m *setup.Measurement) {
	if err := m.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "sonde:", err)
	}
}

// serve runs the embedded engine for other tools.
func serve(ctx context.Context, c config.Config) error {
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	if c.Sim.Scenario == "list" {
		fmt.Print(sim.DescribeScenarios())
		return nil
	}
	engine, err := setup.Engine(c)
	if err != nil {
		return err
	}
	// This process is nothing but the engine: iterations that a collection of garbage
	// does not hold up are worth some megabytes.
	debug.SetGCPercent(1000)
	url, done, err := engine.Listen(ctx, c.Sim.Listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "embedded engine at %s (ctrl+c to stop)\n", url)
	fmt.Fprintf(os.Stderr, "simulating %s\n", engine.Describe())
	if name, _, left := engine.Playing(); name != "" {
		fmt.Fprintf(os.Stderr, "playing %s: the incident begins in %.0f s\n", name, left.Seconds())
	}
	if err := <-done; err != nil && ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// work sends a share of an operator's load.
func work(ctx context.Context, c config.Config) error {
	defer roomyHeap()()
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	if err := setup.Work(ctx, c, func(line string) { fmt.Fprintln(os.Stderr, line) }); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// plan does the arithmetic of capacity.
func plan(_ context.Context, c config.Config) error {
	if err := report.CheckOut(c.Out); err != nil {
		return setup.Usage(err)
	}
	p, err := setup.Capacity(c)
	if err != nil {
		return setup.Usage(err)
	}
	return report.Write(p, c.Out, c.Format, c.Color, os.Stdout)
}

// compareRuns sets runs before a change against runs after it.
func compareRuns(ctx context.Context, c config.Config) error {
	return fromFiles(ctx, c, func(ctx context.Context) (outcome, error) { return setup.Compare(ctx, c) })
}

// mergeSummaries adds the summaries of several clients.
func mergeSummaries(ctx context.Context, c config.Config) error {
	return fromFiles(ctx, c, func(context.Context) (outcome, error) { return setup.Merge(c) })
}

// fromFiles writes what follows from files of results. Every error of read is wrong usage.
func fromFiles(ctx context.Context, c config.Config, read func(context.Context) (outcome, error)) error {
	if err := report.CheckOut(c.Out); err != nil {
		return setup.Usage(err)
	}
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	result, err := read(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return setup.Usage(err)
	}
	return ended(ctx, result, c, nil)
}

// replay shows a recording in the screen of a live session.
func replay(ctx context.Context, c config.Config) error {
	r, err := setup.OpenRecording(ctx, c)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := ui.CheckTerminal(os.Stdin, os.Stdout, "run it in one"); err != nil {
		return setup.Usage(err)
	}
	o := ui.Options{Frames: r.Player, Playback: r.Player, SLOs: r.SLOs, ASCII: c.ASCII, Color: c.Color, Theme: c.Theme}
	if o.Other, err = behind(ctx, c); err != nil {
		return err
	}
	if o.Other != nil {
		o.LoadBegan = r.LoadBegan(ctx)
	}
	o.NewJudge = func() ui.Judge {
		j := diagnose.New()
		j.SetSLOs(r.SLOs)
		return j
	}
	screen, stop := setup.Interruptible(ctx)
	defer stop()
	o.Judge = o.NewJudge()
	o.Save = func(svg string) (string, error) {
		levels, err := r.Levels(ctx)
		if err != nil {
			return "", err
		}
		return report.SaveRecording(".", c.Replay.File, time.Now(), svg, levels)
	}
	return ui.Run(screen, o)
}

// examine says what can be seen from here, or how right the measurement is.
func examine(ctx context.Context, c config.Config) error {
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	if err := report.CheckOut(c.Out); err != nil {
		return setup.Usage(err)
	}
	var result outcome
	if c.Calibrate {
		progress := report.NewProgressLine(os.Stderr)
		calibration, err := doctor.Calibrate(ctx, progress.Line)
		progress.Clear()
		if err != nil {
			return err
		}
		result = calibration
	} else {
		o, err := setup.Options(c)
		if err != nil {
			return err
		}
		terminal := doctor.TerminalOf(os.Stdin, os.Stdout, os.Environ())
		result = doctor.Examine(ctx, doctor.Options{Options: o, Insecure: c.Insecure, Watch: c.Watch, Terminal: terminal})
	}
	if err := context.Cause(ctx); err != nil {
		return err // an interrupted checklist is none
	}
	return ended(ctx, result, c, nil)
}
