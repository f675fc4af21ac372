package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// checkLoad refuses a run without load, or whose summary would overwrite its recording.
func checkLoad(r *resolved) error {
	c := &r.config
	if c.Concurrency == 0 {
		return r.fail("concurrency", "must be at least 1: sonde "+r.command.name+" needs load")
	}
	if c.Rate.Over > 0 && c.Warmup != (Warmup{}) {
		return r.fail("warmup", "a ramp begins with the first request: omit one of them")
	}
	if c.Out != "" && c.Out == c.Record {
		return r.fail("out", "must differ from the --record file")
	}
	return nil
}

// checkSweep settles which loop the levels are of. In an open loop --concurrency is the
// cap, and an automatic ladder begins at --rate; in a closed one it begins at --concurrency.
func checkSweep(r *resolved) error {
	c := &r.config
	s := &c.Sweep
	switch {
	case c.Rate.Over > 0:
		return r.fail("rate", "a sweep steps by itself: give the rate that it begins with, or --levels 1/s,2/s")
	case c.Rate.To > 0 && len(s.Amounts) > 0:
		return r.fail("rate", "sets where --levels auto starts: omit it, or write levels as 1/s,2/s")
	case c.Rate.To > 0:
		s.Open = true
	case s.Open && !r.given("concurrency"):
		c.Concurrency = c.MaxConcurrency
		r.origins["concurrency"] = origin{rankDefault, "max-concurrency"}
	}
	return checkLoad(r)
}

func checkDoctor(r *resolved) error {
	if r.config.Calibrate && r.origins["url"].rank == rankFlag {
		return r.fail("url", "--calibrate tests this machine: omit the URL")
	}
	return nil
}

func (c *Config) checkDuration() string {
	if c.Duration == 0 && c.Requests == 0 && c.Trace.File == "" {
		return "the run would never end: give a time such as 30s, or --requests"
	}
	return ""
}

// mostLevels bounds a list: each level takes seconds at least.
const mostLevels = 1000

// checkLevels also reads the list.
func (c *Config) checkLevels() string {
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
