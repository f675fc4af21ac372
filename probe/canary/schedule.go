package canary

import (
	"math/rand/v2"
	"time"
)

// Probes of a target lie on a grid, so that a slow one delays no other, each with a jitter of
// its own, so that targets and canaries do not march in step.
const (
	jitterShare = 0.1 // of the interval, to either side

	confirmations  = 3           // failures in a row before probes become rarer: by then the target is down
	longestBackOff = time.Minute // between probes of a target that fails
)

// schedule decides when the next probe is due.
type schedule struct {
	every  time.Duration
	slot   time.Time // of the grid, without jitter
	due    time.Time
	random *rand.Rand
}

// newSchedule spreads the first probes of all targets over one interval.
func newSchedule(begin time.Time, every time.Duration, index, of int, seed uint64) *schedule {
	first := begin.Add(every * time.Duration(index) / time.Duration(max(1, of)))
	return &schedule{every: every, slot: first, due: first, random: rand.New(rand.NewPCG(seed, uint64(index)))}
}

// after sets when the next probe is due. A target that fails again and again is probed less
// often, and one that asks for a pause gets it.
func (s *schedule) after(now time.Time, failures int, retryAfter time.Duration) {
	earliest := now
	if again := failures - confirmations; again >= 0 {
		backOff := min(s.every<<min(again+1, 20), max(s.every, longestBackOff))
		earliest = latest(now, s.slot.Add(backOff))
	}
	s.advance(earliest)
	jitter := time.Duration((2*s.random.Float64() - 1) * jitterShare * float64(s.every))
	s.due = latest(s.slot.Add(jitter), now, now.Add(retryAfter))
	if s.due.After(s.slot.Add(s.every)) { // a long pause: the grid goes on from there
		s.slot = s.due
	}
}

// advance moves to the first slot after the present one that does not lie before a moment.
func (s *schedule) advance(earliest time.Time) {
	s.slot = s.slot.Add(s.every)
	if behind := earliest.Sub(s.slot); behind > 0 {
		s.slot = s.slot.Add((behind + s.every - 1) / s.every * s.every)
	}
}

// postpone makes the next probe due at a later moment.
func (s *schedule) postpone(until time.Time) { s.slot, s.due = until, until }

func latest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.After(first) {
			first = t
		}
	}
	return first
}
