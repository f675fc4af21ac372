package engine

import (
	"time"

	"sonde/probe/opt"
)

// Growth adds up how much a counter grew from reading to reading. A counter that fell was
// reset in between: that interval does not count.
type Growth struct {
	sum   float64
	span  time.Duration
	known bool
}

// Add takes two successive values and the time between them.
func (g *Growth) Add(before, after opt.Float, span time.Duration) {
	if !before.OK || !after.OK || after.V < before.V {
		return
	}
	g.sum += after.V - before.V
	g.span += span
	g.known = true
}

// Total is how much the counter grew; unknown without two successive values.
func (g *Growth) Total() opt.Float {
	if !g.known {
		return opt.Float{}
	}
	return opt.Of(g.sum)
}

// PerSecond is the total over the intervals that count.
func (g *Growth) PerSecond() opt.Float {
	if g.span <= 0 {
		return opt.Float{}
	}
	return opt.Of(g.sum / g.span.Seconds())
}

// FullestKV is the fill of the fullest rank. Where the engine reports only one fill that is
// it; a router's is a mean, which says nothing of the fullest.
func (r *Reading) FullestKV() opt.Float {
	if r.KVFillMax.OK || r.Router {
		return r.KVFillMax
	}
	return r.KVFill
}
