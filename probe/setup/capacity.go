package setup

import (
	"fmt"

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

// readSweep reads a file of `sonde sweep`.
func readSweep(path string) (*capacity.Sweep, error) {
	raw, err := readResults(path)
	if err != nil {
		return nil, err
	}
	return capacity.ReadSweep(raw)
}
