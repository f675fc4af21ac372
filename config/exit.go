package config

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sonde/probe/plain"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2

	exitInterrupted = 130
)

// ExitError is what an action returns to choose the exit code. Err is nil if there is
// nothing to print.
type ExitError struct {
	Code int // 1 failed, 2 usage error, 130 interrupted, 143 terminated
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// failed gives what ended the work its exit code: that of an error which has one, such as 130
// for an interrupt and 143 for a termination; else 1. Errors from before the work are usage errors.
func failed(err error) error {
	var chosen *ExitError
	var coded interface {
		error
		ExitCode() int
	}
	switch {
	case err == nil, errors.As(err, &chosen):
		return err
	case errors.As(err, &coded):
		return &ExitError{Code: coded.ExitCode()}
	case errors.Is(err, context.Canceled):
		return &ExitError{Code: exitInterrupted}
	}
	return &ExitError{exitFailed, err}
}

// report prints an error on one line and returns the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitUsage
	var chosen *ExitError
	if errors.As(err, &chosen) {
		code = chosen.Code
		if chosen.Err == nil {
			return code
		}
	}
	say(stderr, err.Error())
	return code
}

// say writes a line to standard error, without control characters from a server or file.
func say(stderr io.Writer, text string) {
	fmt.Fprintln(stderr, "sonde: "+plain.Line(text, 4000))
}
