package setup

import (
	"errors"
	"fmt"

	"sonde/config"
	"sonde/probe/plain"
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
	raw, err := plain.ReadFile(path, largestSweep)
	switch {
	case errors.Is(err, plain.ErrTooLarge):
		return nil, errors.New("too large for a file from sonde sweep (--format json)")
	case err != nil:
		return nil, fmt.Errorf("cannot read the file: %w", plain.Cause(err))
	}
	return capacity.ReadSweep(raw)
}
