package config

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// ExitError is what an action returns to choose the exit code. Err may be nil if
// everything has been said already.
type ExitError struct {
	Code int // 1 failed, 2 wrong usage, 130 interrupted, 143 terminated
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// failed gives an error of the work itself its code, unless it has one. Errors
// without a code are wrong usage: everything before the work can be mended there.
func failed(err error) error {
	var chosen *ExitError
	if err == nil || errors.As(err, &chosen) {
		return err
	}
	return &ExitError{exitFailed, err}
}

// report says on one line what went wrong, and gives the exit code.
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

// say writes a line to standard error. Control characters, which may come from a
// server or a file, do not reach the terminal.
func say(stderr io.Writer, text string) {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	fmt.Fprintln(stderr, "sonde: "+clean)
}
