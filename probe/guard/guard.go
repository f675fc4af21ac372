// Package guard starts goroutines that cannot take the terminal down with them.
//
// A panic in a goroutine of ours ends the process before anything can restore
// the terminal. Every goroutine of the program is therefore started here: a
// panic becomes an error in the hands of whoever started it.
package guard

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic that was caught in a goroutine.
type PanicError struct {
	Name  string // what the goroutine did
	Value any    // what it panicked with
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: internal error: %v", e.Name, e.Value)
}

// Go runs f in a goroutine of its own. If f panics, fail receives a *PanicError.
func Go(name string, fail func(error), f func()) {
	go func() {
		defer Catch(name, fail)
		f()
	}()
}

// Catch is deferred where a panic has to become an error in place.
func Catch(name string, fail func(error)) {
	if v := recover(); v != nil {
		fail(&PanicError{Name: name, Value: v, Stack: debug.Stack()})
	}
}
