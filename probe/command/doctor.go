package command

import (
	"context"
	"os"

	"sonde/config"
	"sonde/probe/doctor"
	"sonde/probe/report"
	"sonde/probe/setup"
)

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
