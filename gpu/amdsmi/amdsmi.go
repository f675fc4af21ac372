// Package amdsmi reads the GPUs of a machine by running AMD's amd-smi there, or rocm-smi
// where that is missing.
package amdsmi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/gpu/tool"
)

const (
	// runTimeout bounds one run. Runs never overlap.
	runTimeout = 10 * time.Second
	// pauseShare is how much longer than a run the time until the next one is: both tools
	// are Python programs, and one run takes half a second of a core.
	pauseShare = 4
)

// ErrMissing: neither tool is installed.
var ErrMissing = errors.New("amd-smi and rocm-smi not found")

// Reader runs one of the tools for each reading. They report time shares, memory, power,
// temperature and clocks.
type Reader struct {
	machine  tool.Machine
	interval time.Duration
	program  string
	args     []string
	parse    func(text string) []device
	names    map[int]string // by index; amd-smi has them on another page

	status gpu.Status
	due    time.Time // no run before
}

// Open runs a tool once; its error is a sentence for people.
func Open(ctx context.Context, m tool.Machine, interval time.Duration) (*Reader, error) {
	r := &Reader{machine: m, interval: interval, program: "amd-smi", args: []string{"metric", "--json"}, parse: parseAMDSMI, names: map[int]string{}}
	_, err := r.Read(ctx)
	if errors.Is(err, tool.ErrMissing) {
		r.program, r.parse, r.due = "rocm-smi", parseROCm, time.Time{}
		r.args = []string{"--showuse", "--showmemuse", "--showmeminfo", "vram", "--showpower", "--showtemp", "--showproductname", "--json"}
		_, err = r.Read(ctx)
	}
	switch {
	case errors.Is(err, tool.ErrMissing):
		return nil, ErrMissing
	case err != nil:
		return nil, err
	}
	if r.program == "amd-smi" {
		r.names = parseNames(r.run(ctx, "static", "--asic", "--json").Text)
		r.due = time.Time{} // the next reading has the names
	}
	return r, nil
}

// Close has nothing to release.
func (r *Reader) Close() {}

func (r *Reader) run(ctx context.Context, args ...string) tool.Output {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	return r.machine.Run(ctx, r.program, args...)
}

// Read runs the tool when it is due, else it returns the last readings.
func (r *Reader) Read(ctx context.Context) (gpu.Status, error) {
	began := time.Now()
	if began.Before(r.due) {
		return r.status, nil
	}
	out := r.run(ctx, r.args...)
	took := time.Since(began)
	period := max(r.interval, pauseShare*took)
	r.due = began.Add(period)
	if out.Err != nil {
		return gpu.Status{}, out.Err
	}
	devices := r.parse(out.Text)
	if len(devices) == 0 {
		return gpu.Status{}, failure(r.program, out)
	}
	readings := make([]gpu.Reading, len(devices))
	for i, d := range devices {
		readings[i] = r.reading(d)
	}
	r.status = gpu.Status{At: began.Add(took / 2), GPUs: readings, Source: r.program, Period: period}
	return r.status, nil
}

// failure explains a run without a single GPU.
func failure(program string, out tool.Output) error {
	said := gpu.Clean(strings.TrimSpace(out.Text))
	switch {
	case out.Code != 0 && said != "":
		return fmt.Errorf("%s exited with status %d: %s", program, out.Code, said)
	case out.Code != 0:
		return fmt.Errorf("%s exited with status %d", program, out.Code)
	case said != "":
		return fmt.Errorf("%s lists no GPU: %s", program, said)
	}
	return fmt.Errorf("%s lists no GPU", program)
}
