package config

import (
	"fmt"
	"slices"
	"time"

	"sonde/probe/units"
)

// Trace is which recorded arrivals are replayed, and how.
type Trace struct {
	File  string        // "" is none
	Speed float64       // times as fast
	From  time.Duration // where to begin, in the time of the trace
	Scale float64       // times as many requests
}

// traceSettings are of the commands that run a single load.
func traceSettings(c *Config) []setting {
	t := &c.Trace
	return in(groupTrace, []setting{
		{key: "trace", arg: "FILE", noFile: true, help: "replay arrivals and lengths of a file", check: readable(&t.File), field: &t.File},
		{key: "speed", arg: "X", initial: "1", noFile: true, help: "trace: times as fast", check: between(&t.Speed, 0.001, 1000), field: &t.Speed},
		{key: "from", arg: "D", initial: "0s", noFile: true, help: "trace: skip its first part", field: &t.From},
		{key: "scale", arg: "X", initial: "1", noFile: true, help: "trace: times as many requests", check: between(&t.Scale, 0.000001, 1000), field: &t.Scale},
	})
}

// instead are the settings that a trace takes the place of.
var instead = []string{"rate", "arrivals", "input", "output", "workload", "prompts", "turns"}

// deriveTrace: a trace has its own arrivals and lengths, and its end is the end of the run.
func (r *resolved) deriveTrace(c *Config) error {
	if c.Trace.File == "" {
		for _, key := range []string{"speed", "from", "scale"} {
			if r.given(key) {
				return r.fail(key, "is about a trace: add --trace FILE")
			}
		}
		return nil
	}
	for _, key := range slices.Concat(instead, []string{"warmup"}) {
		if r.origins[key].rank < r.origins["trace"].rank { // it is about other runs
			continue
		}
		if key == "warmup" {
			return r.fail(key, "a trace is measured from its first request: omit one of them, or skip a part with --from")
		}
		return r.fail(key, "the trace has its own arrivals and lengths: omit one of them")
	}
	if c.Watch {
		return r.fail("trace", "--watch sends no load: omit one of them")
	}
	c.Rate.To, c.Rate.Over, c.Prompts, c.Turns, c.Think, c.Warmup = 0, 0, "", 1, 0, Warmup{}
	if !r.given("duration") {
		c.Duration = 0
		r.origins["duration"] = origin{rankDefault, "until the trace ends"}
	}
	if !r.given("concurrency") {
		c.Concurrency = c.MaxConcurrency
		r.origins["concurrency"] = origin{rankDefault, "max-concurrency"}
	}
	return nil
}

// Adjusted is how the trace is adjusted, as it follows its name; "" if it is not.
func (t Trace) Adjusted() string {
	text := ""
	if t.From > 0 {
		text += " from " + units.Span(t.From)
	}
	if t.Scale != 1 {
		text += fmt.Sprintf(" ×%g", t.Scale)
	}
	if t.Speed != 1 {
		text += fmt.Sprintf(" at speed %g", t.Speed)
	}
	return text
}
