package headless

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// Phase is how far a run has come.
type Phase int

// Phases, in their order. Warmup, Settling and Loading are skipped where there
// is nothing to wait for.
const (
	Idle      Phase = iota // no load yet
	Loading                // the server is still loading its model
	Warmup                 // requests that are in no count
	Settling               // the warm-up drains
	Measuring              // the window is open
	Draining               // nothing new is sent, streams in flight go on
	Cutting                // the drain took too long or was interrupted: streams are cancelled
	Done
)

// loadingLimit ends a run on a server that never gets ready.
const loadingLimit = 30 * time.Minute

// cutFor is how long cancelled streams may take to report their end.
const cutFor = 2 * time.Second

// timeline finds the phases and the measured window [from, to) of a run. All
// instants are durations since the session began.
type timeline struct {
	plan  Plan
	phase Phase

	loadAt  time.Duration // the load was switched on
	origin  time.Duration // warm-up and window count from here
	started bool          // origin is known
	success bool          // a request succeeded
	from    time.Duration
	open    bool // from is known
	to      time.Duration
	closed  bool // to is known
	cutAt   time.Duration
	drained bool          // a whole Frame has passed since the window closed
	seen    time.Duration // end of the newest Frame
	stops   []stop        // when our own process did not run

	warmupEnded int           // warm-up requests that ended
	ended       int           // measured requests that ended
	lastEnd     time.Duration // end of the newest of them
	loadGone    bool          // someone else took the load away: a cap on tokens, say
}

// begin notices the load being switched on.
func (t *timeline) begin(f *frame.Frame) {
	if t.phase != Idle || !loaded(f) {
		return
	}
	t.loadAt = f.At - f.Slice
	for _, e := range f.Events {
		if e.Kind == frame.EventLoad {
			t.loadAt = e.At
		}
	}
	t.startAt(t.loadAt)
}

func loaded(f *frame.Frame) bool { return f.Load.Asked.Concurrency > 0 || f.Load.Asked.Rate > 0 }

// startAt fixes the origin, and with it the window wherever that follows.
func (t *timeline) startAt(at time.Duration) {
	t.origin, t.started = at, true
	t.phase = Warmup
	switch {
	case !t.plan.hasWarmup():
		t.openAt(at)
	case !t.plan.warmupDrains():
		t.from, t.open = at+t.plan.WarmupFor, true
	}
}

func (t *timeline) openAt(at time.Duration) {
	t.from, t.open = at, true
	t.phase = Measuring
}

// foundLoading takes the origin back: while the server loads its model nothing
// is measured. It reports whether that changed anything.
func (t *timeline) foundLoading() bool {
	if t.success || t.phase == Loading || t.phase > Measuring {
		return false
	}
	t.phase, t.started, t.open = Loading, false, false
	return true
}

// succeeded notes a success; the first one after a time of loading is where
// the clock starts.
func (t *timeline) succeeded(r *measure.Request) {
	t.success = true
	if t.phase == Loading {
		t.startAt(r.Start)
	}
}

// ofRun tells whether the request was sent by this run at all.
func (t *timeline) ofRun(r *measure.Request) bool {
	return t.phase != Idle && r.Intent >= t.loadAt
}

// warmup tells whether the request belongs to the warm-up.
func (t *timeline) warmup(r *measure.Request) bool {
	return t.plan.hasWarmup() && (!t.open || r.Intent < t.from)
}

// advance moves on at the end of a Frame.
func (t *timeline) advance(f *frame.Frame) {
	t.seen = f.At
	idle := f.Client.InFlight == 0
	if !loaded(f) && t.phase != Idle && t.phase < Draining {
		t.loadGone = true
		t.close(f.At)
	}
	switch t.phase {
	case Loading:
		if f.At-t.loadAt >= loadingLimit {
			t.close(f.At)
		}
	case Warmup:
		t.advanceWarmup(f.At, idle)
	case Settling:
		if idle || t.drainLimit(f.At-t.origin-t.plan.WarmupFor) {
			t.openAt(f.At)
		}
	case Measuring:
		t.advanceWindow(f.At, idle)
	case Draining:
		// The Frame in which the window closed may be older than the order to
		// stop sending: only the one after it can tell that all is quiet.
		switch {
		case idle && t.drained:
			t.phase = Done
		case t.drainLimit(f.At - t.to):
			t.cut(f.At)
		}
		t.drained = true
	case Cutting:
		if idle || f.At-t.cutAt >= cutFor {
			t.phase = Done
		}
	}
}

func (t *timeline) advanceWarmup(at time.Duration, idle bool) {
	switch {
	case t.plan.WarmupRequests > 0:
		if idle && t.warmupEnded >= t.plan.WarmupRequests {
			t.openAt(at)
		}
	case at < t.origin+t.plan.WarmupFor:
	case t.plan.warmupDrains():
		t.phase = Settling
	default:
		t.phase = Measuring
	}
}

func (t *timeline) advanceWindow(at time.Duration, idle bool) {
	end, timed := t.plannedEnd()
	switch {
	case t.plan.Requests > 0 && t.ended >= t.plan.Requests:
		t.close(t.lastEnd)
		if idle {
			t.phase = Done
		}
	case timed && at >= end:
		t.close(end)
	}
}

// drainLimit tells whether a drain that has lasted d is over its limit.
func (t *timeline) drainLimit(d time.Duration) bool {
	return t.plan.DrainFor > 0 && d >= t.plan.DrainFor
}

// close ends the window. A window that never opened is empty.
func (t *timeline) close(at time.Duration) {
	if t.phase >= Draining {
		return
	}
	if t.phase != Measuring {
		t.from = at
	}
	t.open, t.closed = true, true
	t.to = max(at, t.from)
	if end, timed := t.plannedEnd(); timed {
		t.to = min(t.to, end)
	}
	t.phase = Draining
}

func (t *timeline) cut(at time.Duration) {
	if t.phase < Cutting {
		t.phase, t.cutAt = Cutting, at
	}
}

// plannedEnd is where the window ends by the clock.
func (t *timeline) plannedEnd() (time.Duration, bool) {
	if t.plan.Duration <= 0 || !t.open {
		return 0, false
	}
	return t.from + t.plan.Duration, true
}

// deadline is the next instant at which something ends by the clock.
func (t *timeline) deadline() (time.Duration, bool) {
	switch {
	case t.phase == Measuring:
		return t.plannedEnd()
	case t.phase == Warmup && t.plan.WarmupRequests == 0:
		return t.origin + t.plan.WarmupFor, true
	}
	return 0, false
}
