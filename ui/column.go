package ui

import (
	"math"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// column is what the charts remember of one stretch of time (1 s by default).
// A column is final once a later one has begun.
type column struct {
	dots [2]dot // its two halves: a cell of a line chart is two dots wide
	gaps gapCounts

	seconds          float64 // time that Frames covered
	in, out          float64 // tokens that arrived
	kv               mean    // 0 to 1
	running, waiting mean    // requests, as the engine says
	sm, dram         mean    // 0 to 1, over all GPUs
	busy             mean    // 0 to 1, over all GPUs, while none tells its SM activity
	power            mean    // watts, all GPUs together

	usualGapMS float64      // median gap when the column was drawn, 0 if unknown
	streams    []streamCell // by slot
	mark       markKind
}

// dot is half a column: the latency samples that ended in it.
type dot struct {
	ttftMS, tpotMS []float64 // samples, while the column is open
	ttft, tpot     triple    // percentiles, once it is closed
}

// markKind says what happened in a column.
type markKind uint8

const (
	markNone markKind = iota
	markLoad          // the load was changed
	markLong          // a long prompt was fired
)

// mean averages readings as they come. Its zero value knows nothing.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(f opt.Float) {
	if f.OK {
		m.sum += f.V
		m.n++
	}
}

// value is NaN without readings: charts leave a gap there.
func (m mean) value() float64 {
	if m.n == 0 {
		return math.NaN()
	}
	return m.sum / float64(m.n)
}

// fold adds one Frame to the column; half tells which dot it belongs to.
func (c *column) fold(f *frame.Frame, half int) {
	cl := &f.Client
	d := &c.dots[half]
	d.ttftMS = append(d.ttftMS, cl.SliceTTFT...)
	d.tpotMS = append(d.tpotMS, cl.SliceTPOT...)
	c.gaps.add(cl)
	c.seconds += f.Slice.Seconds()
	c.in += float64(cl.SliceInTokens)
	c.out += float64(cl.SliceOutTokens)
	if cl.Gap.N > 0 {
		c.usualGapMS = cl.Gap.P50
	}
	c.foldReadings(f)
	c.foldStreams(f.Streams)
	for _, e := range f.Events {
		c.mark = max(c.mark, markOf(e.Kind))
	}
}

// foldReadings takes what engine and hardware say, unless it is stale: an old
// value drawn as a flat line would be a claim nobody made.
func (c *column) foldReadings(f *frame.Frame) {
	if age, ok := engineAge(f); ok && age <= staleAfter {
		r := &f.Engine.Reading
		c.kv.add(r.KVFill)
		c.running.add(r.Running)
		c.waiting.add(r.Waiting)
	}
	if gpuFresh(f) {
		all := overGPUs(f.GPU.GPUs)
		c.sm.add(all.sm)
		c.dram.add(all.dram)
		if !all.sm.OK {
			c.busy.add(all.busy)
		}
		c.power.add(all.power)
	}
}

func markOf(k frame.EventKind) markKind {
	switch k {
	case frame.EventLoad:
		return markLoad
	case frame.EventLong:
		return markLong
	}
	return markNone
}

// close computes what later drawings need and drops the samples.
func (c *column) close() {
	for i := range c.dots {
		d := &c.dots[i]
		d.ttft, d.tpot = tripleOf(d.ttftMS), tripleOf(d.tpotMS)
		d.ttftMS, d.tpotMS = nil, nil
	}
}

// perSecond turns a count of the column into a rate; NaN if no time was covered.
func (c *column) perSecond(count float64) float64 {
	if c.seconds <= 0 {
		return math.NaN()
	}
	return count / c.seconds
}
