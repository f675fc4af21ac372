package ui

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/guard"
)

// ErrInterrupted is the result of ctrl+c and of SIGINT.
var ErrInterrupted error = interrupted{}

type interrupted struct{}

func (interrupted) Error() string { return "interrupted" }

// ExitCode is that of SIGINT.
func (interrupted) ExitCode() int { return 128 + int(syscall.SIGINT) }

// SignalError is the result of a signal that ended the screen.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string { return "ended by signal: " + e.Signal.String() }

// Is makes SIGINT the same as ctrl+c.
func (e *SignalError) Is(target error) bool {
	return target == ErrInterrupted && e.Signal == syscall.SIGINT
}

// ExitCode is 128 and the number of the signal, as shells have it.
func (e *SignalError) ExitCode() int { return 128 + int(e.Signal) }

// signalWatch ends the program on SIGINT, SIGTERM, SIGHUP and SIGQUIT. The library's own
// handler knows no SIGHUP and reports SIGTERM as success.
type signalWatch struct {
	signals chan os.Signal
	done    chan struct{}
	ended   chan struct{}
	mu      sync.Mutex
	got     *SignalError
}

func watchSignals(p *tea.Program) *signalWatch {
	w := &signalWatch{signals: make(chan os.Signal, 1), done: make(chan struct{}), ended: make(chan struct{})}
	signal.Notify(w.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	guard.Go("signals", func(error) { p.Kill() }, func() {
		defer close(w.ended)
		w.wait(p)
	})
	return w
}

func (w *signalWatch) wait(p *tea.Program) {
	select {
	case s := <-w.signals:
		if number, ok := s.(syscall.Signal); ok {
			w.mu.Lock()
			w.got = &SignalError{number}
			w.mu.Unlock()
		}
		p.Quit()
	case <-w.done:
	}
}

// stop ends the watch and gives the signal that came, if one did.
func (w *signalWatch) stop() error {
	signal.Stop(w.signals)
	close(w.done)
	<-w.ended
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.got == nil {
		return nil
	}
	return w.got
}
