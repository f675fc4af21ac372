// Package tool runs the programs that report on GPUs, such as nvidia-smi, on this
// machine or on another one.
package tool

import (
	"context"
	"errors"

	"sonde/probe/opt"
)

// ErrMissing: the program is not installed.
var ErrMissing = errors.New("program not found")

// ErrGone: the machine can no longer be reached by this way. It has to be opened again.
var ErrGone = errors.New("connection lost")

// Machine is where programs run. Its methods may be called from several goroutines.
type Machine interface {
	// Name stands in the IDs of GPUs that have none of their own.
	Name() string
	// Run runs a program and waits for it.
	Run(ctx context.Context, program string, args ...string) Output
	// Follow runs a program that goes on, and calls line with each line that it prints,
	// until it ends or the context does.
	Follow(ctx context.Context, line func(string), program string, args ...string)
	// Memory is the machine's memory, which a GPU may share, in bytes.
	Memory() (used, total opt.Float)
}

// Output is what one run left behind. Code is its exit status; Err is set when the program
// could not be run or did not end.
type Output struct {
	Text string // of both streams
	Code int
	Err  error
}
