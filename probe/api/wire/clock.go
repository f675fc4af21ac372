package wire

import (
	"sync"
	"sync/atomic"
	"time"
)

// A kernel stamp is wall time, and the wall clock may be stepped between the
// arrival and the read. The wall clock's lead over the monotonic clock tells: it
// is constant but for slewing (at most 0.5 ms a second), and jumps at a step.
const (
	stepAtLeast  = 2 * time.Millisecond // a change of the lead that is a step
	slewNoise    = 200 * time.Microsecond
	tolerance    = 50 * time.Microsecond
	maxPlausible = 10 * time.Minute // no byte lies in a socket for longer
	stepMemory   = time.Minute      // arrivals from before a step are read within this
)

// wallBridge turns kernel stamps into the time that passed since them.
type wallBridge struct {
	base time.Time // where the monotonic clock is counted from

	lead atomic.Int64 // wall − monotonic at the newest read, ns

	mu     sync.Mutex
	before int64 // the lead before the newest step
	stepAt int64 // monotonic ns of the newest step
	steps  atomic.Int64
}

func newWallBridge() *wallBridge {
	b := &wallBridge{base: time.Now()}
	b.lead.Store(b.base.UnixNano())
	return b
}

// late tells how long before now (of time.Now) a byte arrived that the kernel
// stamped with the given wall time. It is not ok if neither the present lead nor
// the one before a recent step makes sense of the stamp.
func (b *wallBridge) late(now time.Time, kernelWallNS int64) (time.Duration, bool) {
	return b.lateAt(now.UnixNano(), int64(now.Sub(b.base)), kernelWallNS)
}

func (b *wallBridge) lateAt(wallNS, monoNS, kernelWallNS int64) (time.Duration, bool) {
	b.watch(wallNS-monoNS, monoNS)
	if d, ok := plausible(wallNS - kernelWallNS); ok && b.steps.Load() == 0 {
		return d, true
	}
	return b.lateAcrossStep(wallNS, monoNS, kernelWallNS)
}

// lateAcrossStep decides on which side of the newest step a stamp lies. Of the
// two answers the wrong one is off by the whole step: it is negative if the
// step went one way, and the larger one if it went the other.
func (b *wallBridge) lateAcrossStep(wallNS, monoNS, kernelWallNS int64) (time.Duration, bool) {
	same, sameOK := plausible(wallNS - kernelWallNS)
	b.mu.Lock()
	recent := b.steps.Load() > 0 && monoNS-b.stepAt < int64(stepMemory)
	step := (wallNS - monoNS) - b.before
	b.mu.Unlock()
	if !recent {
		return same, sameOK
	}
	across, acrossOK := plausible(wallNS - kernelWallNS - step)
	switch {
	case sameOK && acrossOK:
		return min(same, across), true
	case acrossOK:
		return across, true
	}
	return same, sameOK
}

// watch notices a step of the wall clock.
func (b *wallBridge) watch(lead, monoNS int64) {
	old := b.lead.Load()
	if diff := lead - old; diff < int64(stepAtLeast) && diff > -int64(stepAtLeast) {
		if diff > int64(slewNoise) || diff < -int64(slewNoise) {
			b.lead.CompareAndSwap(old, lead)
		}
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if old = b.lead.Load(); old == lead {
		return
	}
	b.before, b.stepAt = old, monoNS
	b.lead.Store(lead)
	b.steps.Add(1)
}

func plausible(ns int64) (time.Duration, bool) {
	d := time.Duration(ns)
	if d < -tolerance || d > maxPlausible {
		return 0, false
	}
	return max(d, 0), true
}
