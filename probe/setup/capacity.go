package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"sonde/config"
	capacity "sonde/probe/plan"
	"sonde/probe/roofline"
)

// Capacity works out what `sonde plan` is asked for. Every error is wrong usage.
func Capacity(c config.Config) (capacity.Plan, error) {
	ask := capacity.Ask{Headroom: float64(c.Plan.Headroom)}
	for _, l := range c.Plan.Loads {
		ask.Workloads = append(ask.Workloads, capacity.Workload{
			Name: l.Name, RequestsPerS: float64(l.QPS), Users: float64(l.Users), ThinkS: l.Think.Seconds(),
			Input: float64(l.Input), Output: float64(l.Output),
			E2ES: l.E2E.Seconds(), TTFTS: l.TTFT.Seconds(), TPOTS: l.TPOT.Seconds(),
		})
	}
	for _, l := range c.Plan.Limits {
		ask.Limits = append(ask.Limits, capacity.Limit(l))
	}
	for _, s := range c.Plan.SLO {
		ask.SLOs = append(ask.SLOs, capacity.SLO{
			Metric: s.Metric, Quantile: s.Quantile, LimitMS: float64(s.Limit) / float64(time.Millisecond), SuccessShare: s.Share, Text: s.Text,
		})
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
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, largestSweep+1))
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if len(raw) > largestSweep {
		return nil, errors.New("it is too large for a file of sonde sweep (--format json)")
	}
	return capacity.ReadSweep(raw)
}
