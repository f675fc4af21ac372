package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"sonde/config"
	"sonde/probe/bench"
	"sonde/probe/report"
	"sonde/probe/setup"
)

// roomyHeap makes collections of garbage rare while a load runs: each makes some arrivals late by a millisecond
// or more. What is never touched takes no memory and counts as heap, so that there are 32 MB between two of them
// at least. It returns what ends that.
func roomyHeap() (end func()) {
	ballast := make([]byte, 64<<20)
	return func() { runtime.KeepAlive(ballast) }
}

// benchLoad runs one load without a screen.
func (p program) benchLoad(ctx context.Context, c config.Config) error {
	return p.unattended(ctx, c, func(ctx context.Context, m *setup.Measurement, progress *report.ProgressLine) (outcome, error) {
		o, err := bench.Run(ctx, m.Session, m.Plan, progress.Show)
		return report.New(&o), err
	})
}

// sweepLoads tries a ladder of loads without a screen.
func (p program) sweepLoads(ctx context.Context, c config.Config) error {
	return p.unattended(ctx, c, func(ctx context.Context, m *setup.Measurement, progress *report.ProgressLine) (outcome, error) {
		o, err := bench.RunSweep(ctx, m.Session, m.Plan, setup.Ladder(c), progress)
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
func (p program) unattended(ctx context.Context, c config.Config, run func(context.Context, *setup.Measurement, *report.ProgressLine) (outcome, error)) error {
	if err := report.CheckOut(c.Out); err != nil {
		return setup.Usage(err)
	}
	defer roomyHeap()()
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	// The session outlives the interrupt: what is in flight is still recorded.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	m, err := setup.Open(running, c, p.version)
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
