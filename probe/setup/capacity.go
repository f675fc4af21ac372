package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"sonde/config"
	capacity "sonde/probe/plan"
	"sonde/probe/roofline"
)

// Capacity computes the plan for `sonde plan`. Every error is wrong usage.
func Capacity(c config.Config) (capacity.Plan, error) {
	ask := capacity.Ask{Headroom: c.Plan.Headroom, Limits: c.Plan.Limits, SLOs: c.Plan.SLO}
	for _, l := range c.Plan.Loads {
		ask.Workloads = append(ask.Workloads, l.Workload)
	}
	if c.Plan.Model != "" {
		model, err := roofline.FindModel(c.Plan.Model)
		if err != nil {
			return capacity.Plan{}, fmt.Errorf("--model: %w", err)
		}
		ask.Model = &model
	}
	if c.Plan.From != "" {
		var err error
		if ask.Sweep, err = readSweep(c.Plan.From); err != nil {
			return capacity.Plan{}, fmt.Errorf("--from %s: %w", c.Plan.From, err)
		}
	}
	return capacity.Make(ask)
}

// largestSweep is beyond every file of levels; a recording may have gigabytes.
const largestSweep = 64 << 20

// readSweep reads a file of `sonde sweep`.
func readSweep(path string) (*capacity.Sweep, error) {
	file, err := os.Open(path)
	if err != nil {
		if system := (*fs.PathError)(nil); errors.As(err, &system) {
			err = system.Err
		}
		return nil, fmt.Errorf("cannot read the file: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, largestSweep+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the file: %w", err)
	}
	if len(raw) > largestSweep {
		return nil, errors.New("too large for a file from sonde sweep (--format json)")
	}
	return capacity.ReadSweep(raw)
}
