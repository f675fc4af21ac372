package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/opt"
)

// bandwidthBound finds decoding at the limit of the GPU's memory.
type bandwidthBound struct {
	dram, tpot float64   // share of peak; p50 in ms
	floor      opt.Float // what the hardware allows at least, ms
	open       int
	how        string // what the share rests on
}

func (r *bandwidthBound) check(h *history) outcome {
	frames, ok := h.steady(recent)
	c := &h.now().Client
	queued := h.engineMean(recent, waiting)
	share, compute := h.gpuMean(recent, dram), h.gpuMean(recent, tensor)
	r.how = fmt.Sprintf("mean of the last %.0f s", recent.Seconds())
	if seldom, old := h.seldomRead(); seldom {
		share, compute = busiest(h.now(), dram), busiest(h.now(), tensor)
		r.how = fmt.Sprintf("by a reading %.0f s old", old.Seconds())
	}
	if !ok || !share.OK || !queued.OK || c.TPOT.N < enough && !fewSuffice(h, c.TPOT.N) {
		return unclear
	}
	if h.quiet() > h.usual.gapLimit(0)/2 {
		return absent // no token comes: whatever the memory does, it is not decoding
	}
	decoding := 0
	for _, f := range frames {
		if f.Client.InFlight > f.Client.Prefill {
			decoding++
		}
	}
	if 4*decoding < 3*len(frames) {
		return absent // hardly anybody decodes
	}
	r.dram, r.tpot, r.floor, r.open = share.V, c.TPOT.P50, h.now().Roofline.TPOTFloorMS, 0
	for _, f := range frames {
		r.open = max(r.open, f.Client.InFlight)
	}
	return found(share.V >= 0.6 && queued.V < 0.5 && compute.Or(0) < 0.6)
}

// seldomRead tells that GPU figures change too seldom for a mean of the last
// seconds, but that the newest one was taken wholly under the present load.
func (h *history) seldomRead() (yes bool, old time.Duration) {
	f := h.now()
	old, known := age(f, f.GPU.At)
	return known && 2*f.GPU.Period > recent && f.At-old-f.GPU.Period >= h.since, old
}

func (r *bandwidthBound) verdict() Verdict {
	tpot := millis(r.tpot)
	// Below the floor several tokens come of a step, or it is another model.
	if r.floor.OK && r.floor.V > 0 && r.tpot >= r.floor.V {
		tpot += fmt.Sprintf(" = %.1f× the floor of %s", r.tpot/r.floor.V, millis(r.floor.V))
	}
	return Verdict{
		Severity: Info, aside: !slowTPOT(r.tpot, r.floor),
		Text:     fmt.Sprintf("decode is bound by memory bandwidth: DRAM %s of peak, TPOT %s, queue empty", percent(r.dram), tpot),
		Evidence: []string{fmt.Sprintf("busiest GPU, %s, up to %s in flight", r.how, several(float64(r.open), "stream"))},
		Advice:   "more streams cost little until compute binds; a smaller weight or KV format lowers TPOT",
	}
}
