package wire

import (
	"testing"
	"time"
)

// A machine's clocks: wall − monotonic is the lead.
type clocks struct{ lead int64 }

const second = int64(time.Second)

// bridgeOn is a bridge on made-up clocks.
func bridgeOn(c *clocks) *wallBridge {
	b := &wallBridge{fresh: func() int64 { return c.lead }}
	b.lead.Store(c.lead)
	return b
}

// TestBridge: a byte arrives, the wall clock is stepped, the byte is read.
func TestBridge(t *testing.T) {
	for _, c := range []struct {
		name      string
		step      int64 // of the wall clock, between arrival and read
		afterStep bool  // the byte arrived after the step
		readAfter int64 // ns between arrival and read
		want      time.Duration
	}{
		{name: "no step", readAfter: 3e6, want: 3 * time.Millisecond},
		{name: "forward by an hour", step: 3600 * second, readAfter: 3e6, want: 3 * time.Millisecond},
		{name: "back by a minute", step: -60 * second, readAfter: 3e6, want: 3 * time.Millisecond},
		{name: "back by 5 ms", step: -5e6, readAfter: 3e6, want: 3 * time.Millisecond},
		{name: "arrived after a step forward", step: 60 * second, afterStep: true, readAfter: 2e6, want: 2 * time.Millisecond},
		{name: "arrived after a step back", step: -60 * second, afterStep: true, readAfter: 2e6, want: 2 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			const mono = 50 * second // at the arrival
			machine := &clocks{lead: 1_700_000_000 * second}
			b := bridgeOn(machine)
			stamped := mono + machine.lead
			machine.lead += c.step
			if c.afterStep {
				stamped += c.step
			}
			got, ok := b.lateAt(mono+c.readAfter+machine.lead, mono+c.readAfter, stamped)
			if !ok || got != c.want {
				t.Errorf("late by %v (%v), want %v", got, ok, c.want)
			}
		})
	}
}

// TestInterruptedReading: between the reading of the wall clock and of the
// monotonic one our thread lost the processor. That is no step.
func TestInterruptedReading(t *testing.T) {
	machine := &clocks{lead: 1_700_000_000 * second}
	b := bridgeOn(machine)
	wall := func(mono int64) int64 { return mono + machine.lead }
	for i, c := range []struct {
		mono, interrupted, arrived int64
	}{
		{mono: second, interrupted: 2.9e6, arrived: second - 4e6},
		{mono: second + 3e6, arrived: second - 2e6},
		{mono: second + 15e6, interrupted: 0.5e6, arrived: second + 10e6},
		{mono: 2 * second, interrupted: 40e6, arrived: 2*second - 5e6},
	} {
		got, ok := b.lateAt(wall(c.mono-c.interrupted), c.mono, wall(c.arrived))
		// The lead may follow an interruption as far as a slewed clock would.
		if off := got - time.Duration(c.mono-c.arrived); !ok || off > 0 || off < -time.Millisecond {
			t.Errorf("reading %d: late by %v (%v), want %v", i, got, ok, time.Duration(c.mono-c.arrived))
		}
	}
	if b.steps.Load() != 0 {
		t.Errorf("%d steps were seen", b.steps.Load())
	}
}

// TestSlewedClock: the wall clock is slewed by half a millisecond a second, either
// way, and the bridge follows.
func TestSlewedClock(t *testing.T) {
	for _, slew := range []int64{500_000, -500_000} {
		machine := &clocks{lead: 1_700_000_000 * second}
		b := bridgeOn(machine)
		for s := int64(1); s <= 100; s++ {
			machine.lead += slew
			mono := s * second
			got, ok := b.lateAt(mono+machine.lead, mono, mono-7e6+machine.lead)
			if !ok || got != 7*time.Millisecond {
				t.Fatalf("slewed by %d ns/s, after %d s: late by %v (%v), want 7 ms", slew, s, got, ok)
			}
		}
	}
}

func TestSenselessStamp(t *testing.T) {
	b := newWallBridge()
	if d, ok := b.late(time.Now(), 0); ok {
		t.Errorf("a stamp of 1970 was taken: late by %v", d)
	}
}
