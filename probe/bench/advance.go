package bench

import (
	"time"

	"sonde/probe/frame"
)

// advance moves on at the end of a Frame.
func (w *Window) advance(f *frame.Frame) {
	w.seen = f.At
	idle := f.Client.InFlight == 0
	if f.Load.Requested.IsIdle() && w.phase < Draining {
		w.out.LoadGone = true
		w.close(f.At)
	}
	if wait := f.Client.RetryAt - f.At; wait > waitLimit && idle && w.countsRequests() {
		w.out.Wait = wait
		w.close(f.At)
	}
	switch w.phase {
	case Loading:
		if f.At-w.loadAt >= loadingLimit {
			w.close(f.At)
		}
	case Warmup:
		w.advanceWarmup(f.At, idle)
	case Settling:
		if idle || w.overDrain(f.At-w.origin-w.plan.WarmupFor) {
			w.measureFrom(f.At)
		}
	case Measuring:
		w.advanceWindow(f.At, idle, f.Load.Replay)
	case Draining:
		// The Frame in which the window closed may be older than the order to
		// stop sending: only the one after it can show that all is quiet.
		switch {
		case idle && w.drained:
			w.enter(Done)
		case w.overDrain(f.At - w.tally.To()):
			w.cut(f.At)
		}
		w.drained = true
	case Cutting:
		if idle || f.At-w.cutAt >= cutFor {
			w.enter(Done)
		}
	}
}

// countsRequests reports whether the current phase ends only when enough requests have.
func (w *Window) countsRequests() bool {
	switch w.phase {
	case Warmup:
		return w.plan.WarmupRequests > 0
	case Measuring:
		return w.plan.Requests > 0 && w.plan.Duration == 0
	}
	return false
}

func (w *Window) advanceWarmup(at time.Duration, idle bool) {
	switch {
	case w.plan.WarmupRequests > 0:
		if idle && w.out.Warmup >= w.plan.WarmupRequests {
			w.measureFrom(at)
		}
	case at < w.origin+w.plan.WarmupFor:
	case w.plan.warmupDrains():
		w.enter(Settling)
	default:
		w.enter(Measuring)
	}
}

func (w *Window) measureFrom(at time.Duration) {
	w.openAt(at)
	w.enter(Measuring)
}

func (w *Window) advanceWindow(at time.Duration, idle bool, replay *frame.TraceState) {
	end, timed := w.plannedEnd()
	switch {
	case replay != nil && replay.Ended:
		w.close(at)
	case w.plan.Requests > 0 && w.tally.Ended() >= w.plan.Requests:
		w.close(w.lastEnd)
		if idle {
			w.enter(Done)
		}
	case timed && at >= end:
		w.close(end)
	}
}

// overDrain reports whether a drain that has lasted d is over its limit.
func (w *Window) overDrain(d time.Duration) bool { return w.plan.DrainFor > 0 && d >= w.plan.DrainFor }

// close ends the window. A window that was never measured is empty.
func (w *Window) close(at time.Duration) {
	if w.phase >= Draining {
		return
	}
	if w.phase != Measuring {
		w.tally.Restart()
		w.tally.Open(at)
	}
	w.tally.Close(at)
	w.enter(Draining)
}

func (w *Window) cut(at time.Duration) {
	if w.phase < Cutting {
		w.cutAt = at
		w.enter(Cutting)
	}
}

// plannedEnd is where the window ends by the clock.
func (w *Window) plannedEnd() (time.Duration, bool) {
	return w.tally.From() + w.plan.Duration, w.plan.Duration > 0 && w.tally.Opened()
}

// deadline is the next instant, since the session began, at which a phase ends
// by the clock.
func (w *Window) deadline() (time.Duration, bool) {
	switch {
	case w.phase == Measuring:
		return w.plannedEnd()
	case w.phase == Warmup && w.plan.WarmupRequests == 0:
		return w.origin + w.plan.WarmupFor, true
	}
	return 0, false
}
