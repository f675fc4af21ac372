package setup

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"sonde/probe/guard"
)

// signalError is a signal that ended the work.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return e.String() }

// ExitCode is 128 and the number of the signal, as shells have it.
func (e signalError) ExitCode() int {
	if n, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 130
}

// Interruptible ends the context at the first signal, with the signal as its
// cause, and the process at the second.
func Interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	guard.Go("signals", func(error) {}, func() {
		first := signalError{<-signals}
		cancel(first)
		<-signals
		os.Exit(first.ExitCode())
	})
	return ctx, func() { signal.Stop(signals) }
}
