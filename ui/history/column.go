package history

import (
	"slices"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Column is what the charts remember of one stretch of time (1 s by default). A column
// is final once a later one has begun.
type Column struct {
	Dots [2]Dot // its two halves: a cell of a line chart is two dots wide
	Gaps Gaps

	KV               opt.TimeMean // 0 to 1
	Running, Waiting opt.TimeMean // requests in the engine
	SM, DRAM         opt.TimeMean // 0 to 1, over all GPUs
	Busy             opt.TimeMean // 0 to 1, over all GPUs, while none reports its SM activity

	Streams []Stream // by slot
	Marked  bool     // the load was changed, or a long prompt was fired
	Long    bool     // a long prompt was fired

	TTFT, TPOT measure.Summary // of the samples that ended in it

	Window *Window // of another run's columns; else nil

	load           *frame.Load // as it was last requested, shared by columns
	gapP50, gapP99 opt.Float   // of columns whose single gaps are gone

	seconds float64 // time that Frames covered
	in, out float64 // tokens that arrived
}

// Dot is half a column: the latencies of the samples that ended in it.
type Dot struct{ TTFT, TPOT measure.Summary }

// fold adds one Frame to the column.
func (c *Column) fold(f *frame.Frame) {
	cl := &f.Client
	c.Gaps.add(cl)
	c.seconds += f.Slice.Seconds()
	c.in += float64(cl.SliceInTokens)
	c.out += float64(cl.SliceOutTokens)
	c.foldReadings(f)
	c.foldStreams(f.Streams)
	c.Long = c.Long || f.Has(frame.EventLong)
	c.Marked = c.Marked || f.Has(frame.EventLoad) || f.Has(frame.EventLong)
}

// foldReadings takes what engine and hardware report, unless it is stale: an old value
// drawn as a flat line would be a claim nobody made.
func (c *Column) foldReadings(f *frame.Frame) {
	if r, ok := f.FreshEngine(); ok {
		c.KV.Add(r.KVFill, f.Slice)
		c.Running.Add(r.Running, f.Slice)
		c.Waiting.Add(r.Waiting, f.Slice)
	}
	if gpus := f.FreshGPUs(); gpus != nil {
		sm := MeanOf(gpus, func(g *gpu.Reading) opt.Float { return g.SM })
		c.SM.Add(sm, f.Slice)
		c.DRAM.Add(MeanOf(gpus, func(g *gpu.Reading) opt.Float { return g.DRAM }), f.Slice)
		if !sm.OK {
			c.Busy.Add(MeanOf(gpus, func(g *gpu.Reading) opt.Float { return g.Busy }), f.Slice)
		}
	}
}

// MeanOf is the mean over the values of a list that are known.
func MeanOf[T any](list []T, value func(*T) opt.Float) opt.Float {
	var m opt.TimeMean
	for i := range list {
		m.Add(value(&list[i]), 1)
	}
	return m.Mean()
}

func (c *Column) clone() *Column {
	d := *c
	d.Gaps.Bins = slices.Clone(c.Gaps.Bins)
	d.Streams = slices.Clone(c.Streams)
	return &d
}

// GapMS is the median gap (0.50) or the p99 (0.99) of the column.
func (c *Column) GapMS(q float64) opt.Float {
	ms, known := c.Gaps.Quantile(q)
	switch {
	case known:
		return opt.Of(ms)
	case q > 0.5:
		return c.gapP99
	}
	return c.gapP50
}

// OutPerS and InPerS are the tokens per second that arrived; unknown if no time was
// covered.
func (c *Column) OutPerS() opt.Float { return opt.Of(c.out / c.seconds) }
func (c *Column) InPerS() opt.Float  { return opt.Of(c.in / c.seconds) }
