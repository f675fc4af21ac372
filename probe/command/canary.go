package command

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"sonde/config"
	"sonde/probe/canary"
	"sonde/probe/guard"
	"sonde/probe/report"
	"sonde/probe/setup"
	"sonde/ui"
	"sonde/ui/board"
)

// watchOver probes endpoints again and again, or once.
func (p program) watchOver(ctx context.Context, c config.Config) error {
	if err := report.CheckOut(c.Out); err != nil {
		return setup.Usage(err)
	}
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	k, err := setup.OpenCanary(ctx, c, p.version, func(err error) { fmt.Fprintln(os.Stderr, "sonde:", err) })
	if err != nil {
		return err
	}
	if c.Canary.Once {
		if err := k.Once(ctx); err != nil {
			return err
		}
		c.Format = cmp.Or(c.Format, "table")
		return ended(ctx, k.Document(), c, nil)
	}
	for _, line := range canary.Costs(k.Targets) {
		fmt.Fprintln(os.Stderr, line)
	}
	if k.Metrics != "" {
		fmt.Fprintf(os.Stderr, "metrics for Prometheus: %s\n", k.Metrics)
	}
	if c.Format == "" && c.Out == "" && ui.CheckTerminal(os.Stdin, os.Stdout, "") == nil {
		return showTargets(ctx, cancel, k, c)
	}
	return reportChanges(ctx, cancel, k, c)
}

// showTargets runs the canary and shows its screen.
func showTargets(ctx context.Context, cancel context.CancelCauseFunc, k *setup.Canary, c config.Config) error {
	ended := make(chan error, 1)
	guard.Go("canary", cancel, func() {
		err := k.Run(ctx)
		ended <- err
		cancel(err)
	})
	err := board.Run(ctx, ui.Terminal{ASCII: c.ASCII, Color: c.Color, Theme: c.Theme}, board.Options{Rows: k.Rows, PerDay: canary.PerDay(k.Targets), Serves: k.Metrics})
	cancel(nil) // probes in flight end, and leave nothing running on the servers
	<-ended
	return err
}

// reportChanges runs the canary and writes a line for each change of state.
func reportChanges(ctx context.Context, cancel context.CancelCauseFunc, k *setup.Canary, c config.Config) error {
	to := os.Stdout
	if c.Out != "" {
		file, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		defer file.Close()
		to = file
	}
	written := make(chan struct{})
	guard.Go("lines of the canary", cancel, func() {
		defer close(written)
		if err := writeChanges(to, k.Changes(), c.Format == "json"); err != nil {
			cancel(err)
		}
	})
	err := k.Run(ctx)
	<-written
	if errors.Is(err, syscall.EPIPE) {
		return nil // the reader has seen enough
	}
	return err
}

// writeChanges writes a line for each change until there are no more.
func writeChanges(to io.Writer, changes <-chan canary.Change, asJSON bool) error {
	w := bufio.NewWriter(to)
	for change := range changes {
		line := change.Text()
		if asJSON {
			line = change.JSON()
		}
		fmt.Fprintln(w, line)
		if len(changes) > 0 {
			continue
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return w.Flush()
}
