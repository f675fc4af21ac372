package config

import (
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

// failed gives an error of the work itself its code, unless it has one. Errors without a
// code are usage errors.
func failed(err error) error {
	var chosen *ExitError
	if err == nil || errors.As(err, &chosen) {
		return err
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
