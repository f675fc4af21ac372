package headless

import (
	"sonde/gpu"
	"sonde/probe"
	"sonde/probe/opt"
)

// roofline judges the window by what the hardware allows at least; all is unknown
// where the model or the hardware is.
func (a *Accumulator) roofline() Roofline {
	if a.last == nil {
		return Roofline{}
	}
	r, err := probe.RooflineOf(a.plan.Roofline, a.last)
	if err != nil {
		return Roofline{}
	}
	b := r.Judge(a.work())
	return Roofline{
		TPOTFloorMS: number(b.TPOTFloorMS), TTFTFloorMS: number(b.TTFTFloorMS),
		MBU: share(b.MBU), MFU: share(b.MFU),
	}
}

func (a *Accumulator) work() gpu.Work {
	t := &a.counts.tokens
	w := gpu.Work{
		Batch: a.engine.running.mean(),
		Input: ratio(t.Input, a.counts.requests.OK), Output: ratio(t.Output, a.counts.requests.OK),
		Cached: ratio(t.CachedInput, t.Input),
		InPerS: a.perSecond(a.flow.in), OutPerS: a.perSecond(a.flow.out),
	}
	if !w.Batch.OK {
		w.Batch = a.concurrency()
	}
	if t.CachedInput == 0 { // usage does not always tell
		w.Cached = a.engine.hitRate()
	}
	if tpot := a.latency.tpot.Summary(); tpot.N > 0 {
		w.TPOTMS = opt.Of(tpot.Mean)
	}
	return w
}
