package headless

import (
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// roofline judges the window by what the hardware allows at least; all is unknown
// where the model or the hardware is.
func (a *Accumulator) roofline() Roofline {
	if a.last == nil {
		return Roofline{}
	}
	b := a.last.Judge(a.work())
	return Roofline{
		TPOTFloorMS: number(b.TPOTFloorMS), TTFTFloorMS: number(b.TTFTFloorMS),
		MBU: share(b.MBU), MFU: share(b.MFU),
	}
}

func (a *Accumulator) work() roofline.Work {
	t := &a.counts.tokens
	w := roofline.Work{
		Batch:   a.engine.running.Mean(),
		Output:  ratio(t.output, a.counts.requests.OK),
		OutPerS: a.perSecond(a.flow.out),
	}
	if a.counts.uncounted == 0 {
		w.Input, w.Cached = ratio(t.input, a.counts.requests.OK), ratio(t.cachedInput, t.input)
	}
	if a.flow.uncounted == 0 {
		w.InPerS = a.perSecond(a.flow.in)
	}
	if !w.Batch.OK {
		w.Batch = a.concurrency()
	}
	if t.cachedInput == 0 { // usage does not always tell
		w.Cached = a.engine.hitRate()
	}
	if tpot := a.latency.TPOT.Summary(); tpot.N > 0 {
		w.TPOTMS = opt.Of(tpot.Mean)
	}
	return w
}
