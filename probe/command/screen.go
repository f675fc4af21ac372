package command

import (
	"context"
	"fmt"
	"os"
	"time"

	"sonde/config"
	"sonde/probe/bench"
	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/report"
	"sonde/probe/setup"
	"sonde/probe/slo"
	"sonde/probe/sweep"
	"sonde/ui"
)

// quickAnswer is how long the screen waits for the server's first answer, so
// that a wrong address is one line and not a screen that flashes.
const quickAnswer = 150 * time.Millisecond

// live shows the screen.
func (p program) live(ctx context.Context, c config.Config) error {
	if err := ui.CheckTerminal(os.Stdin, os.Stdout, "use `sonde bench` for a run without a screen"); err != nil {
		return setup.Usage(err)
	}
	defer roomyHeap()()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m, err := setup.Open(ctx, c, p.version)
	if err != nil {
		return err
	}
	defer closing(m)
	controls, other, setSLOs, err := p.beside(ctx, c, m)
	if err != nil {
		return err
	}
	levels := level.NewBook(m.Plan.SLOs)
	sweeper := sweep.NewController(controls, levels)
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
		Frames: m.Session, Controls: controls, Judge: judge, SLOs: m.Plan.SLOs,
		SetSLOs: func(targets []slo.Target) {
			levels.SetSLOs(targets)
			judge.SetSLOs(targets)
			judge.Share(levels)
			setSLOs(targets)
		},
		Levels: levels, Sweeper: sweeper, Rehearsal: m.Rehearsal(), Other: other,
		Save:  func(svg, cast string) (string, error) { return report.Save(".", keeper, time.Now(), svg, cast) },
		ASCII: c.ASCII, Color: c.Color, Theme: c.Theme,
	})
	closing(m)
	fmt.Print(report.Brief(keeper))
	return err
}

// beside is what is shown behind the first endpoint: a run in a file, or a second endpoint, which then takes the
// same commands.
func (p program) beside(ctx context.Context, c config.Config, m *setup.Measurement) (frame.Controls, ui.Other, func([]slo.Target), error) {
	if c.Beside == nil {
		other, err := behind(ctx, c)
		return m.Session, other, func([]slo.Target) {}, err
	}
	b, err := setup.OpenBeside(ctx, c, p.version, ui.ColumnWidth)
	if err != nil {
		return nil, nil, nil, err
	}
	b.Connect(ctx, b.Session.Begin)
	return setup.Both{Session: m.Session, Second: b.Session}, b, b.SetSLOs, nil
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
	o.Save = func(svg, cast string) (string, error) {
		levels, err := r.Levels(ctx)
		if err != nil {
			return "", err
		}
		return report.SaveRecording(".", c.Replay.File, time.Now(), svg, cast, levels)
	}
	return ui.Run(screen, o)
}
