package config

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// benchCommand is one load without a screen, and a summary.
func benchCommand() command {
	return command{
		name:  "bench",
		args:  "[URL]",
		short: "Run one load without a screen and print a summary",
		long: "Run one load without a screen and print a summary. Exits with 1 if no request\n" +
			"succeeded or an SLO was missed.",
		example: "  sonde bench gpu-box:8000 -c 16 --duration 60s\n" +
			"  sonde bench https://host/v1 --requests 200 --warmup 5 --out run.json\n" +
			"  sonde bench @lab --rate 4 --slo ttft_p95=2s,tpot_p95=40ms,success=99.9",
		groups: []string{groupTarget, groupLoad, groupAmount, groupSources, groupRecord, groupReport, groupScreen, groupMachine, groupFile},
		own:    amountSettings(),
		common: []string{"concurrency", "rate", "input", "output", "workload", "requests", "duration", "warmup", "model", "api-key", "slo", "format", "out"},
		check:  checkBench,
		action: func(a Actions) func(context.Context, Config) error { return a.Bench },
	}
}

func amountSettings() []setting {
	return []setting{
		{key: "requests", arg: "N", initial: "0", group: groupAmount, help: "stop after this many requests",
			check: between(0, 1_000_000_000, func(c *Config) int { return c.Requests }), field: func(c *Config) any { return &c.Requests }},
		{key: "duration", arg: "D", initial: "30s", group: groupAmount, help: "stop after this time, or --requests",
			check: checkDuration, field: func(c *Config) any { return &c.Duration }},
		{key: "warmup", arg: "N|D", initial: "0", group: groupAmount, help: "requests or time before measuring",
			check: checkWarmup, field: func(c *Config) any { return &c.Warmup }},
	}
}

func checkDuration(c *Config) string {
	if c.Duration < 0 {
		return "must be longer than 0, such as 30s"
	}
	if c.Duration == 0 && c.Requests == 0 {
		return "the run would never end: give a time such as 30s, or --requests"
	}
	return ""
}

func checkWarmup(c *Config) string {
	if c.Warmup.Requests < 0 || c.Warmup.Duration < 0 {
		return "must not be negative"
	}
	return ""
}

func checkBench(r *resolved) error {
	c := &r.config
	if c.Concurrency == 0 {
		return r.fail("concurrency", "must be at least 1: a benchmark needs load")
	}
	if c.Out != "" && c.Out == c.Record {
		return r.fail("out", "must differ from the --record file")
	}
	return nil
}

// Sweep holds the settings of `sonde sweep`.
type Sweep struct {
	Levels   string        // as it was written; "auto" finds them
	Amounts  []float64     // the levels, in their order; none: found automatically
	Open     bool          // amounts are requests per second, else streams
	PerLevel time.Duration // the longest time at one level; 0 is chosen by the sweep
}

const groupSweep = "sweep"

// sweepCommand is a ladder of loads.
func sweepCommand() command {
	return command{
		name:  "sweep",
		args:  "[URL]",
		short: "Step up the load: the knee, and the largest load within the SLO",
		long: "Step up the load and print a table of levels, the knee and what limits it, and\n" +
			"the largest load that meets the SLO. Exits with 1 if no request succeeded or no\n" +
			"load meets the SLO.",
		example: "  sonde sweep gpu-box:8000 --slo ttft_p95=2s,tpot_p95=40ms\n" +
			"  sonde sweep @lab --levels 1,4,8,16,32,64 --per-level 30s --out sweep.json\n" +
			"  sonde sweep h:8000 --levels 1/s,2/s,4/s -o 512 --format md",
		groups: []string{groupSweep, groupTarget, groupLoad, groupSources, groupRecord, groupReport, groupScreen, groupMachine, groupFile},
		own: []setting{
			{key: "levels", arg: "LIST", initial: "auto", group: groupSweep, help: "1,4,8 streams, 1/s,2/s, or auto",
				check: checkLevels, field: func(c *Config) any { return &c.Sweep.Levels }},
			{key: "per-level", arg: "D", initial: "0s", group: groupSweep, help: "longest time per level (automatic)",
				check: checkPerLevel, field: func(c *Config) any { return &c.Sweep.PerLevel }},
		},
		common:  []string{"levels", "per-level", "slo", "max-concurrency", "rate", "input", "output", "workload", "model", "api-key", "format", "out"},
		formats: []string{"table", "json", "csv", "md"},
		check:   checkSweep,
		action:  func(a Actions) func(context.Context, Config) error { return a.Sweep },
	}
}

func checkPerLevel(c *Config) string {
	if c.Sweep.PerLevel < 0 {
		return "must not be negative"
	}
	return ""
}

// mostLevels bounds a list: each level takes seconds at least.
const mostLevels = 1000

// checkLevels also reads the list.
func checkLevels(c *Config) string {
	s := &c.Sweep
	s.Amounts, s.Open = nil, false
	if s.Levels == "auto" {
		return ""
	}
	for i, part := range strings.Split(s.Levels, ",") {
		amount, perSecond := strings.CutSuffix(strings.ReplaceAll(strings.TrimSpace(part), " ", ""), "/s")
		v, err := strconv.ParseFloat(amount, 64)
		switch {
		case err != nil || math.IsNaN(v) || v <= 0 || v > 100_000:
			return "must be levels such as 1,4,8 streams or 1/s,2/s requests per second, or auto"
		case i > 0 && perSecond != s.Open:
			return "must be all streams (1,4,8) or all rates (1/s,4/s)"
		case !perSecond && v != math.Trunc(v):
			return "must have whole numbers of streams; a rate is written 2.5/s"
		case !perSecond && int(v) > c.MaxConcurrency:
			return fmt.Sprintf("must be at most %d streams (raise --max-concurrency for more)", c.MaxConcurrency)
		case len(s.Amounts) == mostLevels:
			return fmt.Sprintf("must have at most %d levels", mostLevels)
		}
		s.Open = perSecond
		s.Amounts = append(s.Amounts, v)
	}
	return ""
}

// checkSweep settles which loop the levels are of. In an open loop --concurrency is the
// cap, and an automatic ladder begins at --rate; in a closed one it begins at --concurrency.
func checkSweep(r *resolved) error {
	c := &r.config
	s := &c.Sweep
	switch {
	case c.Rate > 0 && len(s.Amounts) > 0:
		return r.fail("rate", "sets where --levels auto starts: omit it, or write levels as 1/s,2/s")
	case c.Rate > 0:
		s.Open = true
	case s.Open && !r.given("concurrency"):
		c.Concurrency = c.MaxConcurrency
		r.origins["concurrency"] = origin{rankDefault, "max-concurrency"}
	}
	if err := r.checkFormat(); err != nil {
		return err
	}
	if c.Concurrency == 0 {
		return r.fail("concurrency", "must be at least 1: a sweep needs load")
	}
	if c.Out != "" && c.Out == c.Record {
		return r.fail("out", "must differ from the --record file")
	}
	return nil
}
