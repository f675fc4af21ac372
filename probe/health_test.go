package probe

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// busyProcess uses a share of all cores between two questions, a slice apart.
type busyProcess struct {
	share float64
	used  time.Duration
}

func (p *busyProcess) CPU() (time.Duration, bool) {
	p.used += time.Duration(p.share * float64(runtime.GOMAXPROCS(0)) * float64(250*time.Millisecond))
	return p.used, true
}

func (p *busyProcess) LongestPause() time.Duration { return 0 }

// starved is a health watch whose process uses a share of all cores.
func starved(share float64, stamps string) *health {
	return newHealth(Options{Process: &busyProcess{share: share}, Tick: DefaultTick}, func() string { return stamps })
}

// judge is what the watch makes of a slice.
func (h *health) judge(t *collect.Tick, slice time.Duration, load frame.Load) frame.Health {
	f := &frame.Frame{Slice: slice, Stopped: slice > DefaultTick+stoppedAfter, Load: frame.LoadState{Requested: load}}
	h.add(f, t)
	return f.Health
}

func TestBottlenecks(t *testing.T) {
	const tick = 250 * time.Millisecond
	gap := func(lateMS, gapMS float64) collect.Tick {
		return collect.Tick{LateMS: measure.Summary{N: 10, P99: lateMS}, Client: measure.Client{Gap: measure.Summary{N: 10, P50: gapMS}}}
	}
	for _, c := range []struct {
		name   string
		share  float64
		tick   collect.Tick
		slice  time.Duration
		stamps string
		says   string // "" is healthy
	}{
		{"well", 0.5, gap(1, 20), tick, "kernel", ""},
		{"no processor left", 0.98, gap(1, 20), tick, "kernel", "cores"},
		{"late reads that the kernel's stamps make up for", 0.1, gap(20, 50), tick, "kernel", ""},
		{"reads later than the next token", 0.1, gap(60, 50), tick, "kernel", "60.0 ms late"},
		{"timers later than a whole slice", 0.1, gap(1, 20), 2*tick + time.Millisecond, "kernel", "our own timers are 251 ms late"},
		{"timers a little late", 0.1, gap(1, 20), tick + 30*time.Millisecond, "kernel", ""},
		{"the same where reads are the stamps", 0.1, gap(0, 20), tick + 30*time.Millisecond, "read", "stamped by our reads"},
		{"a stopped process is told apart", 0.1, gap(1, 20), 10 * time.Second, "kernel", ""},
	} {
		h := starved(c.share, c.stamps)
		var got frame.Health
		for range 20 { // the use of cores is smoothed over a second
			got = h.judge(&c.tick, tick, frame.Load{})
		}
		got = h.judge(&c.tick, c.slice, frame.Load{})
		if got.Bottleneck != (c.says != "") || !strings.Contains(got.Why, c.says) {
			t.Errorf("%s: bottleneck %v, %q; want %q", c.name, got.Bottleneck, got.Why, c.says)
		}
	}
}

// A third of the asked streams in flight: the server is too fast for us.
func TestStreamsThatCannotBeKept(t *testing.T) {
	for name, c := range map[string]struct {
		client measure.Client
		load   frame.Load
		want   bool
	}{
		"too few":      {measure.Client{Counts: measure.Counts{OK: 9}, InFlight: 21}, frame.Load{Concurrency: 64}, true},
		"all":          {measure.Client{Counts: measure.Counts{OK: 9}, InFlight: 64}, frame.Load{Concurrency: 64}, false},
		"refused":      {measure.Client{Counts: measure.Counts{OK: 9}, InFlight: 21, Retrying: 43}, frame.Load{Concurrency: 64}, false},
		"an open loop": {measure.Client{Counts: measure.Counts{OK: 9}, InFlight: 2}, frame.Load{Concurrency: 64, Rate: 3}, false},
	} {
		h := starved(0.1, "kernel")
		got := frame.Health{}
		for range 60 {
			got = h.judge(&collect.Tick{Client: c.client}, DefaultTick, c.load)
		}
		if got.Bottleneck != c.want {
			t.Errorf("%s: bottleneck %v (%s)", name, got.Bottleneck, got.Why)
		}
	}
}
