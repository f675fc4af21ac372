package engine

import (
	"math"
	"testing"
	"time"

	"sonde/probe/opt"
)

func at(second int, preemptions opt.Float) *Reading {
	return &Reading{At: time.Unix(int64(second), 0), Preemptions: preemptions}
}

func preemptions(r *Reading) opt.Float { return r.Preemptions }

func TestGrowth(t *testing.T) {
	restarted, regrouped, other := at(1, opt.Of(9)), at(1, opt.Of(9)), at(1, opt.Of(9))
	restarted.Restarted, regrouped.Regrouped, other.Replica = true, true, "vllm-1"
	for name, pair := range map[string][2]*Reading{
		"restarted":          {at(0, opt.Of(2)), restarted},
		"other replicas":     {at(0, opt.Of(2)), regrouped},
		"of another replica": {at(0, opt.Of(2)), other},
		"fell":               {at(0, opt.Of(2)), at(1, opt.Of(1))},
		"unknown before":     {at(0, opt.Float{}), at(1, opt.Of(1))},
		"unknown after":      {at(0, opt.Of(1)), at(1, opt.Float{})},
		"the same reading":   {at(1, opt.Of(1)), at(1, opt.Of(1))},
		"in the wrong order": {at(2, opt.Of(1)), at(1, opt.Of(1))},
	} {
		var g Growth
		if g.Add(pair[0], pair[1], preemptions); g.Total().OK || g.PerSecond().OK {
			t.Errorf("%s: %v", name, g)
		}
		g.Add(at(4, opt.Of(10)), at(6, opt.Of(16)), preemptions)
		if g.Total() != opt.Of(6) || g.PerSecond() != opt.Of(3) {
			t.Errorf("%s, then 6 in 2 s: %v, %v per second", name, g.Total(), g.PerSecond())
		}
	}
	var a, b Growth
	a.Merge(&b)
	if a.Total().OK {
		t.Error("nothing and nothing is known")
	}
	b.Add(at(0, opt.Of(1)), at(2, opt.Of(1)), preemptions)
	a.Add(at(0, opt.Of(1)), at(2, opt.Of(9)), preemptions)
	if a.Merge(&b); a.Total() != opt.Of(8) || a.PerSecond() != opt.Of(2) {
		t.Errorf("merged: %v, %v", a.Total(), a.PerSecond())
	}
}

func TestGrowthOfOutput(t *testing.T) {
	before, after := at(0, opt.Float{}), at(1, opt.Float{})
	before.GenerationTokens, after.GenerationTokens = opt.Of(100), opt.Of(100)
	after.LiveDecodeTokens = opt.Of(7)
	var g Growth
	if g.AddOutput(before, after); g.Total() != opt.Of(0) {
		t.Errorf("%v, want the total that both have", g.Total())
	}
	before.LiveDecodeTokens = opt.Of(3)
	if g.AddOutput(before, after); g.Total() != opt.Of(4) {
		t.Errorf("%v, want what moves with every step", g.Total())
	}
}

func TestGrowthOfAHistogram(t *testing.T) {
	ttft := func(r *Reading) *Histogram { return &r.TTFT }
	reading := func(second int, counts ...float64) *Reading {
		r := at(second, opt.Float{})
		n := counts[len(counts)-1]
		r.TTFT = Histogram{Bounds: []float64{1, math.Inf(1)}[2-len(counts):], Counts: counts, Sum: n, Count: n}
		return r
	}
	var g, other HistogramGrowth
	first := reading(1, 2, 5)
	g.Add(reading(0, 1, 1), first, ttft)
	g.Add(first, first, ttft)
	if got := g.Total(); got.Count != 4 || got.Counts[0] != 1 || first.TTFT.Counts[0] != 2 {
		t.Errorf("%+v", got)
	}
	other.Add(first, reading(2, 4, 8), ttft)
	other.Add(reading(2, 4, 8), reading(3, 0, 1), ttft) // restarted
	if g.Merge(&other); g.Total().Count != 7 || g.Total().Counts[0] != 3 || g.Total().Sum != 7 || other.Total().Count != 3 {
		t.Errorf("merged: %+v", g.Total())
	}
	if g.Add(reading(4, 1), reading(5, 3), ttft); g.Total().Count != 2 || len(g.Total().Bounds) != 1 {
		t.Errorf("with other buckets: %+v", g.Total())
	}
}

// A router's mean says nothing about the fullest of its servers.
func TestFullestKV(t *testing.T) {
	for name, c := range map[string]struct {
		r    Reading
		want opt.Float
	}{
		"one rank":                  {Reading{KVFill: opt.Of(0.4)}, opt.Of(0.4)},
		"two ranks":                 {Reading{KVFill: opt.Of(0.4), KVFillMax: opt.Of(0.7)}, opt.Of(0.7)},
		"a router's mean":           {Reading{KVFill: opt.Of(0.4), Router: true}, opt.Float{}},
		"a router with the fullest": {Reading{KVFill: opt.Of(0.4), KVFillMax: opt.Of(0.7), Router: true}, opt.Of(0.7)},
	} {
		if got := c.r.FullestKV(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
