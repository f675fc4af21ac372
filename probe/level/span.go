package level

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// Span is the time that figures are of: from one instant to another, without the stops in
// between. It is the measured window of a bench, which has a warm-up before it and a drain
// after it, and the settled part of a level, where the time between two visits to the load
// is one of its stops. Instants are durations since the session began.
type Span struct {
	from, to time.Duration
	opened   bool          // from is known
	closed   bool          // to is known; it may be planned ahead
	seen     time.Duration // end of the newest Frame
	stops    []stop        // the newest ones
	skipped  time.Duration // the length of older stops
}

// stop is a stretch that does not count: our own process did not run, or another load was on.
type stop struct{ from, to time.Duration }

// maxStops bounds the stops that are kept one by one. Only those that a request still reaches
// back to matter; of the others their length does.
const maxStops = 64

// Open begins the span, or goes on with one that was closed: what lies between is a stop.
func (s *Span) Open(from time.Duration) {
	if s.closed {
		s.skip(s.to, from)
		s.to, s.closed = 0, false
		return
	}
	s.from, s.opened = from, true
}

// PlanEnd fixes an end that lies ahead: what comes after it does not count.
func (s *Span) PlanEnd(to time.Duration) { s.to, s.closed = max(to, s.from), true }

// Close ends the span, at the latest where it was planned to end.
func (s *Span) Close(to time.Duration) {
	if s.closed {
		to = min(to, s.to)
	}
	s.PlanEnd(to)
	s.seen = max(s.seen, s.to)
}

// Opened reports whether the span has a beginning.
func (s *Span) Opened() bool { return s.opened }

// From is the beginning.
func (s *Span) From() time.Duration { return s.from }

// To is the end, as soon as it is known.
func (s *Span) To() time.Duration { return s.to }

// NoteStop takes out of the span what our own process did not see of the next Frame. It comes
// before the requests of that Frame.
func (s *Span) NoteStop(f *frame.Frame) {
	if from, to := s.clip(f.At-f.Slice, f.At); f.Stopped && to > from {
		s.skip(from, to)
	}
}

func (s *Span) skip(from, to time.Duration) {
	if len(s.stops) == maxStops {
		s.skipped += s.stops[0].to - s.stops[0].from
		s.stops = append(s.stops[:0], s.stops[1:]...)
	}
	s.stops = append(s.stops, stop{from, to})
}

// stopped is how much of [from, to] does not count.
func (s *Span) stopped(from, to time.Duration) time.Duration {
	sum := time.Duration(0)
	for _, x := range s.stops {
		sum += overlap(x.from, x.to, from, to)
	}
	return sum
}

// clip is the part of [from, to] that lies in the span; its stops are part of it.
func (s *Span) clip(from, to time.Duration) (time.Duration, time.Duration) {
	if !s.opened {
		return 0, 0
	}
	from = max(from, s.from)
	if s.closed {
		to = min(to, s.to)
	}
	return from, max(from, to)
}

// Held is how much of the slice of a Frame counts.
func (s *Span) Held(f *frame.Frame) time.Duration {
	from, to := s.clip(f.At-f.Slice, f.At)
	return max(0, to-from-s.stopped(from, to))
}

// contains reports whether an instant lies in the span.
func (s *Span) contains(at time.Duration) bool {
	if !s.opened || at < s.from || s.closed && at > s.to {
		return false
	}
	for _, x := range s.stops {
		if at > x.from && at <= x.to {
			return false
		}
	}
	return true
}

// share is the part of a request's duration, t0 to t_end, that lies in the span. Summed up
// over requests it counts them without an effect of the edges: of a steady stream of
// requests a span of length T holds T divided by their duration, however long they are.
func (s *Span) share(r *measure.Request) float64 {
	lasted := r.End - r.Start
	if lasted <= 0 {
		if s.contains(r.End) {
			return 1
		}
		return 0
	}
	from, to := s.clip(r.Start, r.End)
	return float64(to-from-s.stopped(from, to)) / float64(lasted)
}

// saw reports whether something was read within the span: a source publishes its newest
// reading until there is another, and that may be from before. One of unknown age counts.
func (s *Span) saw(f *frame.Frame, at time.Time) bool {
	if f.Target.Started.IsZero() || at.IsZero() {
		return true
	}
	since := at.Sub(f.Target.Started)
	return s.opened && since >= s.from && (!s.closed || since <= s.to)
}

// Length is how long the span is, without its stops; while it is open, as far as Frames
// have come.
func (s *Span) Length() time.Duration {
	if !s.opened {
		return 0
	}
	to := s.seen
	if s.closed {
		to = min(to, s.to)
	}
	return max(0, to-s.from-s.stopped(s.from, to)-s.skipped)
}

func overlap(a, b, from, to time.Duration) time.Duration { return max(0, min(b, to)-max(a, from)) }
