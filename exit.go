package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"sonde/config"
	"sonde/probe/guard"
	"sonde/ui"
)

// signalError is a signal that ended the work.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return e.String() }

// interruptible ends the context at the first signal, with the signal as its
// cause, and the process at the second.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	guard.Go("signals", func(error) {}, func() {
		first := <-signals
		cancel(signalError{first})
		<-signals
		os.Exit(exitCode(first))
	})
	return ctx, func() { signal.Stop(signals) }
}

func exitCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 130
}

// exit turns what ended a command into its exit code: 130 for an interrupt, 143
// for a termination.
func exit(err error) error {
	var chosen *config.ExitError
	var ours signalError
	var screen *ui.SignalError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &chosen):
		return err
	case errors.As(err, &ours):
		return &config.ExitError{Code: exitCode(ours.Signal)}
	case errors.As(err, &screen):
		return &config.ExitError{Code: screen.ExitCode()}
	case errors.Is(err, ui.ErrInterrupted), errors.Is(err, context.Canceled):
		return &config.ExitError{Code: 130}
	}
	return &config.ExitError{Code: 1, Err: err}
}
