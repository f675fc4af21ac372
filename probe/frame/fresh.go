package frame

import (
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
)

// A reading speaks for the present until it has missed three of its source's periods,
// and for at least five seconds: one slow scrape is not an outage.
const (
	freshPeriods = 3
	freshAtLeast = 5 * time.Second
)

// Age is how old something read at that wall time was when the Frame closed. It is
// unknown without the wall time of the session's start.
func (f *Frame) Age(at time.Time) (age time.Duration, known bool) {
	if f.Target.Started.IsZero() || at.IsZero() {
		return 0, false
	}
	return max(0, f.Target.Started.Add(f.At).Sub(at)), true
}

// Fresh reports whether a reading taken at that wall time, by a source with that
// period (0: unknown), speaks for the time of the Frame. One of unknown age does.
// This is the one rule for what is stale: the screen, levels and verdicts all use it.
func (f *Frame) Fresh(at time.Time, period time.Duration) bool {
	age, known := f.Age(at)
	return !known || age <= max(freshAtLeast, freshPeriods*period)
}

// FreshEngine is the engine's reading, if there is one and it is fresh.
func (f *Frame) FreshEngine() (*engine.Reading, bool) {
	if !f.Engine.Have || !f.Fresh(f.Engine.Reading.At, f.Engine.Period) {
		return nil, false
	}
	return &f.Engine.Reading, true
}

// FreshGPUs are the GPU readings, if they are fresh; nil otherwise.
func (f *Frame) FreshGPUs() []gpu.Reading {
	if !f.Fresh(f.GPU.At, f.GPU.Period) {
		return nil
	}
	return f.GPU.GPUs
}
