// Package amdsmi reads the GPUs of a machine by running AMD's amd-smi there, or rocm-smi
// where that is missing.
package amdsmi

import (
	"context"
	"errors"
	"time"

	"sonde/gpu"
	"sonde/gpu/tool"
)

// Reader runs one of the tools for each reading. They report time shares, memory, power,
// temperature and clocks.
type Reader struct {
	machine tool.Machine
	paced   tool.Paced
	program string
	args    []string
	parse   func(text string) []device
	names   map[int]string // by index; amd-smi has them on another page
}

// Open runs a tool once; its error is a sentence for people, or tool.ErrMissing if neither is
// installed.
func Open(ctx context.Context, m tool.Machine, interval time.Duration) (*Reader, error) {
	r := &Reader{machine: m, paced: tool.Paced{Interval: interval}, program: "amd-smi", args: []string{"metric", "--json"}, parse: parseAMDSMI, names: map[int]string{}}
	_, err := r.Read(ctx)
	if errors.Is(err, tool.ErrMissing) {
		r.program, r.parse = "rocm-smi", parseROCm
		r.args = []string{"--showuse", "--showmemuse", "--showmeminfo", "vram", "--showpower", "--showtemp", "--showproductname", "--json"}
		r.paced.Again()
		_, err = r.Read(ctx)
	}
	if err != nil {
		return nil, err
	}
	if r.program == "amd-smi" {
		r.names = parseNames(tool.Run(ctx, m, r.program, "static", "--asic", "--json").Text)
		r.paced.Again() // the next reading has the names
	}
	return r, nil
}

// Close has nothing to release.
func (r *Reader) Close() {}

// Read runs the tool when it is due, else it returns the last readings.
func (r *Reader) Read(ctx context.Context) (gpu.Status, error) {
	return r.paced.Read(r.program, func() ([]gpu.Reading, error) {
		out := tool.Run(ctx, r.machine, r.program, r.args...)
		if out.Err != nil {
			return nil, out.Err
		}
		devices := r.parse(out.Text)
		if len(devices) == 0 {
			return nil, out.NoGPU(r.program)
		}
		readings := make([]gpu.Reading, len(devices))
		for i, d := range devices {
			readings[i] = r.reading(d)
		}
		return readings, nil
	})
}
