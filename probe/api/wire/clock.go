package wire

import (
	"sync"
	"sync/atomic"
	"time"
)

// A kernel stamp is wall time; everything here is measured on the monotonic clock.
// The wall clock's lead over the monotonic one translates. It is constant except for
// slewing, and jumps when the wall clock is stepped.
//
// time.Now reads the wall clock first. If our thread loses the processor before it
// reads the monotonic one, the lead comes out too small by that time, never too
// large: so a larger lead is believed at once, and a smaller one only as far as the
// clock can have been slewed since.
const (
	stepAtLeast  = 2 * time.Millisecond // a change of the lead that is a step
	slewPerUnit  = 1e-3                 // twice what adjtime and NTP slew at most
	tolerance    = 50 * time.Microsecond
	maxPlausible = 10 * time.Minute // no byte lies in a socket for longer
	stepMemory   = time.Minute      // arrivals from before a step are read within this
	stepReadings = 3                // fresh readings that have to agree on a step back
)

// wallBridge turns kernel stamps into the time that passed since them.
type wallBridge struct {
	base  time.Time           // where the monotonic clock is counted from
	fresh func() (lead int64) // reads both clocks anew

	lead atomic.Int64 // wall − monotonic, ns
	seen atomic.Int64 // monotonic ns of the newest look at it

	steps  atomic.Int64
	mu     sync.Mutex // guards what follows
	before int64      // the lead before the newest step
	stepAt int64      // monotonic ns of the newest step
}

func newWallBridge() *wallBridge {
	b := &wallBridge{base: time.Now()}
	b.fresh = func() int64 {
		now := time.Now()
		return now.UnixNano() - int64(now.Sub(b.base))
	}
	b.lead.Store(b.fresh())
	return b
}

// late returns how long before now (of time.Now) a byte arrived that the kernel
// stamped with the given wall time. It is not ok if neither the present lead nor
// the one before a recent step makes sense of the stamp.
func (b *wallBridge) late(now time.Time, kernelWallNS int64) (time.Duration, bool) {
	return b.lateAt(now.UnixNano(), int64(now.Sub(b.base)), kernelWallNS)
}

func (b *wallBridge) lateAt(wallNS, monoNS, kernelWallNS int64) (time.Duration, bool) {
	b.watch(wallNS-monoNS, monoNS)
	same, sameOK := plausible(monoNS + b.lead.Load() - kernelWallNS)
	if b.steps.Load() == 0 {
		return same, sameOK
	}
	// A stamp lies on one side of the newest step. The answer of the other side is
	// off by the whole step: it is negative, or the larger of the two.
	b.mu.Lock()
	before, recent := b.before, monoNS-b.stepAt < int64(stepMemory)
	b.mu.Unlock()
	if !recent {
		return same, sameOK
	}
	across, acrossOK := plausible(monoNS + before - kernelWallNS)
	switch {
	case sameOK && acrossOK:
		return min(same, across), true
	case acrossOK:
		return across, true
	}
	return same, sameOK
}

// watch follows the lead and notices a step of the wall clock.
func (b *wallBridge) watch(lead, monoNS int64) {
	old := b.lead.Load()
	elapsed := max(0, monoNS-b.seen.Load())
	switch diff := lead - old; {
	case diff > -int64(stepAtLeast) && diff <= 0:
		slewed := max(lead, old-int64(slewPerUnit*float64(elapsed)))
		if slewed != old && elapsed > int64(time.Millisecond) { // seldom enough not to contend
			b.seen.Store(monoNS)
			b.lead.CompareAndSwap(old, slewed)
		}
	case diff > 0 && diff < int64(stepAtLeast):
		b.seen.Store(monoNS)
		b.lead.CompareAndSwap(old, lead)
	case diff > 0 || b.steppedBack(old):
		b.step(old, monoNS)
	}
}

// steppedBack distinguishes a step of the wall clock from a reading that was
// interrupted between its two clocks.
func (b *wallBridge) steppedBack(old int64) bool {
	for range stepReadings {
		if b.fresh()-old > -int64(stepAtLeast) {
			return false
		}
	}
	return true
}

func (b *wallBridge) step(old, monoNS int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lead.Load() != old {
		return // another reader has noticed it
	}
	b.before, b.stepAt = old, monoNS
	b.seen.Store(monoNS)
	b.lead.Store(b.fresh())
	b.steps.Add(1)
}

func plausible(ns int64) (time.Duration, bool) {
	d := time.Duration(ns)
	if d < -tolerance || d > maxPlausible {
		return 0, false
	}
	return max(d, 0), true
}
