// Package tool runs the programs that report on GPUs, such as nvidia-smi, on this
// machine or on another one.
package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/probe/opt"
)

// ErrMissing: the program, which its error names, is not installed.
var ErrMissing = errors.New("not found")

// ErrGone: the machine can no longer be reached by this way. It has to be opened again.
var ErrGone = errors.New("connection lost")

// Machine is where programs run. Its methods may be called from several goroutines.
type Machine interface {
	// Name stands in the IDs of GPUs that have none of their own.
	Name() string
	// Run runs a program and waits for it, or for the context.
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

// NoGPU explains a run that lists no GPU.
func (o Output) NoGPU(program string) error {
	text := program + " lists no GPU"
	if o.Code != 0 {
		text = fmt.Sprintf("%s exited with status %d", program, o.Code)
	}
	if said := gpu.Clean(strings.TrimSpace(o.Text)); said != "" {
		text += ": " + said
	}
	return errors.New(text)
}

const (
	// RunLimit bounds one run of a program for a reading.
	RunLimit = 10 * time.Second
	// pauseShare is how much longer than a run the time until the next one is: one run takes
	// half a second of a core, or a whole one on a machine with many GPUs.
	pauseShare = 4
)

// Run runs a program for a reading, and ends it after RunLimit.
func Run(ctx context.Context, m Machine, program string, args ...string) Output {
	ctx, cancel := context.WithTimeout(ctx, RunLimit)
	defer cancel()
	return m.Run(ctx, program, args...)
}

// Paced keeps the readings of a program from one run to the next. Runs never overlap.
type Paced struct {
	Interval time.Duration // between runs, at least

	last gpu.Status
	due  time.Time // no run before
}

// Read calls run when it is due, else it returns the last readings.
func (p *Paced) Read(source string, run func() ([]gpu.Reading, error)) (gpu.Status, error) {
	began := time.Now()
	if began.Before(p.due) {
		return p.last, nil
	}
	readings, err := run()
	took := time.Since(began)
	period := max(p.Interval, pauseShare*took)
	p.due = began.Add(period)
	if err != nil {
		return gpu.Status{}, err
	}
	p.last = gpu.Status{At: began.Add(took / 2), GPUs: readings, Source: source, Period: period}
	return p.last, nil
}

// Again makes a run due at once.
func (p *Paced) Again() { p.due = time.Time{} }
