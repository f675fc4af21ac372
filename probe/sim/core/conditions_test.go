package core

import (
	"testing"
	"time"

	"sonde/probe/sim/faults"
)

// tpotOf runs one stream of 101 tokens under conditions.
func tpotOf(t *testing.T, c faults.Faults, o Options) float64 {
	b := newBench(t, o)
	b.core.setFaults(c)
	s := b.submit(exactly(prompt(256, 1), 101))
	b.drain()
	return (s.Last - s.First).Seconds() / 100
}

func TestSlowReplicaStretchesEveryIteration(t *testing.T) {
	healthy := tpotOf(t, faults.Faults{}, Options{})
	near(t, "TPOT of a replica three times as slow", tpotOf(t, faults.Faults{Slow: 3}, Options{}), 3*healthy, 1e-6)
}

// A slow host leaves the GPU idle: at a third of the speed it is busy for a third
// of the time that it was.
func TestSlowReplicaLeavesTheGPUIdle(t *testing.T) {
	busy := func(c faults.Faults) float64 {
		b := newBench(t, Options{})
		b.core.setFaults(c)
		b.submit(exactly(prompt(256, 1), 10))
		it, _ := b.core.begin(0)
		return it.cost.activity(&b.core.gpu).Busy
	}
	near(t, "busy", busy(faults.Faults{Slow: 3}), busy(faults.Faults{})/3, 1e-6)
}

// The clock slows the arithmetic, and so prefill, but not the reading of memory.
func TestThrottledClockSlowsPrefillNotDecode(t *testing.T) {
	near(t, "TPOT at 0.7 of the clock", tpotOf(t, faults.Faults{Throttle: 0.7}, Options{}), tpotOf(t, faults.Faults{}, Options{}), 1e-9)
	// At 0.3 of the clock half of the bandwidth is left. Of 9.85 ms 0.61 are overhead.
	near(t, "TPOT at 0.3 of the clock", tpotOf(t, faults.Faults{Throttle: 0.3}, Options{}), 0.0191, 0.01)

	ttft := func(c faults.Faults) float64 {
		b := newBench(t, Options{})
		b.core.setFaults(c)
		s := b.submit(exactly(prompt(2000, 1), 1))
		b.drain()
		return (s.First - s.Arrived).Seconds() - 0.000608
	}
	near(t, "prefill at half the clock", ttft(faults.Faults{Throttle: 0.5}), 2*ttft(faults.Faults{}), 1e-6)
}

func TestWithheldKVCountsAsUsedAndComesBack(t *testing.T) {
	b := newBench(t, Options{})
	b.core.setFaults(faults.Faults{KV: 0.75})
	if got := b.core.kv.usage(); got != 0.75 {
		t.Errorf("usage is %g with three quarters withheld, want 0.75", got)
	}
	b.core.setFaults(faults.Faults{})
	if got := b.core.kv.usage(); got != 0 {
		t.Errorf("usage is %g when all came back, want 0", got)
	}
}

// 10 streams of 400 tokens fit into 2,048 blocks, but not into a tenth of them.
func TestKVPressurePreempts(t *testing.T) {
	b := newBench(t, Options{})
	var all []*Sequence
	for i := range 10 {
		all = append(all, b.submit(exactly(prompt(300, uint32(i)), 100)))
	}
	for range 20 {
		b.step(nil)
	}
	if b.core.stats.Preemptions != 0 {
		t.Fatal("preempted without pressure")
	}
	b.core.setFaults(faults.Faults{KV: 0.9})
	b.drain()
	if b.core.stats.Preemptions == 0 {
		t.Error("nobody was preempted under pressure")
	}
	for _, s := range all {
		if s.Generated() != 100 {
			t.Errorf("a request got %d of 100 tokens", s.Generated())
		}
	}
}

// Even with everything withheld, the oldest request goes on to its end.
func TestNoKVAtAllStillServesOneAtATime(t *testing.T) {
	b := newBench(t, Options{})
	b.core.setFaults(faults.Faults{KV: 1})
	for i := range 3 {
		b.submit(exactly(prompt(300, uint32(i)), 20))
	}
	b.watch = func() {
		if n := len(b.core.running); n > 1 {
			t.Fatalf("%d run at once", n)
		}
	}
	b.drain()
	if n := b.core.stats.Finished[FinishLength]; n != 3 {
		t.Errorf("%d of 3 requests finished", n)
	}
}

func TestStandStillLengthensOneIteration(t *testing.T) {
	b := newBench(t, Options{})
	s := b.submit(exactly(prompt(100, 1), 50))
	for range 10 {
		b.step(nil)
	}
	b.core.pause += 700 * time.Millisecond
	b.drain()
	long := 0
	for _, g := range b.gaps[s] {
		if g > 700*time.Millisecond && g < 720*time.Millisecond {
			long++
		} else if g > 20*time.Millisecond {
			t.Errorf("a gap of %v", g)
		}
	}
	if long != 1 {
		t.Errorf("%d gaps of 0.7 s, want 1", long)
	}
}

func TestStalls(t *testing.T) {
	b := newBench(t, Options{Faults: faults.Faults{Stall: 500 * time.Millisecond, StallEvery: time.Second}})
	s := b.submit(exactly(prompt(100, 1), 400))
	b.drain()
	stalls := 0
	for _, g := range b.gaps[s] {
		if g > 400*time.Millisecond {
			stalls++
		}
	}
	// 400 tokens take 3.9 s of work; every second of it is followed by a stall.
	if stalls != 3 {
		t.Errorf("%d stalls, want 3", stalls)
	}
}
