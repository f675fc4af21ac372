package crew

import "time"

// offset is how far a worker's clock is ahead of ours, by the exchange that took the
// least time: an answer cannot have been given outside of it.
type offset struct {
	samples []sample // the newest ones
}

type sample struct{ ahead, trip time.Duration }

// samplesKept bounds how old the best sample gets: clocks drift by some microseconds a second.
const samplesKept = 16

// add takes an exchange: when we asked and got the answer, and the worker's clock in between.
func (o *offset) add(asked, answered, theirs time.Duration) {
	if len(o.samples) == samplesKept {
		o.samples = o.samples[1:]
	}
	o.samples = append(o.samples, sample{theirs - (asked+answered)/2, answered - asked})
}

// best is the offset, and the time of its exchange: the offset is right to half of it.
func (o *offset) best() (ahead, trip time.Duration, known bool) {
	for _, s := range o.samples {
		if !known || s.trip < trip {
			ahead, trip, known = s.ahead, s.trip, true
		}
	}
	return ahead, trip, known
}
