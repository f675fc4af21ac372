package headless

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// stop is a stretch in which our own process did not run.
type stop struct{ from, to time.Duration }

// noteStop takes the time of a stop out of the window: neither its length nor
// what arrived in it counts.
func (t *timeline) noteStop(f *frame.Frame) {
	if f.Stopped {
		t.stops = append(t.stops, stop{f.At - f.Slice, f.At})
	}
}

// stopped is how much of [from, to] our process did not run.
func (t *timeline) stopped(from, to time.Duration) time.Duration {
	sum := time.Duration(0)
	for _, s := range t.stops {
		sum += max(0, min(to, s.to)-max(from, s.from))
	}
	return sum
}

// clip gives the part of the span that lies in the window.
func (t *timeline) clip(from, to time.Duration) (time.Duration, time.Duration) {
	if !t.open {
		return 0, 0
	}
	from = max(from, t.from)
	if end, known := t.end(); known {
		to = min(to, end)
	}
	return from, max(from, to)
}

// contains tells whether an instant lies in the window.
func (t *timeline) contains(at time.Duration) bool {
	if !t.open || at < t.from {
		return false
	}
	for _, s := range t.stops {
		if at > s.from && at <= s.to {
			return false
		}
	}
	end, known := t.end()
	return !known || at <= end
}

// share is the part of a request's duration, t0 to t_end, that lies in the
// window. Summed up over requests it counts them without an effect of the edges:
// of a steady stream of requests a window of length T holds T divided by their
// duration, however long they are.
func (t *timeline) share(r *measure.Request) float64 {
	lasted := r.End - r.Start
	if lasted <= 0 {
		if t.contains(r.End) {
			return 1
		}
		return 0
	}
	from, to := t.clip(r.Start, r.End)
	return float64(to-from-t.stopped(from, to)) / float64(lasted)
}

// saw tells whether something was read within the window: a source publishes its
// newest reading until there is another, and that may be from before. It cannot
// be told without the wall time of the session's start.
func (t *timeline) saw(f *frame.Frame, at time.Time) bool {
	if f.Target.Started.IsZero() || at.IsZero() {
		return true
	}
	since := at.Sub(f.Target.Started)
	end, known := t.end()
	return t.open && since >= t.from && (!known || since <= end)
}

func (t *timeline) end() (time.Duration, bool) {
	if t.closed {
		return t.to, true
	}
	return t.plannedEnd()
}

// length of the window; while it is open, as far as Frames have come.
func (t *timeline) length() time.Duration {
	if !t.open {
		return 0
	}
	to := t.seen
	if end, known := t.end(); known {
		to = min(to, end)
	}
	if t.closed {
		to = t.to
	}
	return max(0, to-t.from-t.stopped(t.from, to))
}
