package scrape

import (
	"math"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// Counters that are printed with a few digits move in steps: past a million by ten,
// past ten millions by a hundred. Over a second such a step says nothing, so their
// rates are taken over as long as it needs to move by several steps.
const (
	stepsForRate = 10
	longestHold  = 30 * time.Second
)

const roundedNote = "large counters are printed with six digits: their rates are of the last seconds to half a minute"

// held is where a rate was last taken.
type held struct {
	total float64
	at    time.Time
	rate  opt.Float // per second
}

// step is by how much a counter moves at least, as it is printed.
func (s *snapshot) step(field engine.Field) float64 {
	total := s.series[field].total()
	if s.digits == 0 || total < math.Pow10(s.digits) {
		return 1
	}
	return math.Pow10(int(math.Floor(math.Log10(total))) + 1 - s.digits)
}

// heldRate is the rate since it was last taken, if the counter has moved enough or
// long enough ago; else the one that was taken then.
func (s *snapshot) heldRate(prev *snapshot, field engine.Field, step float64) opt.Float {
	last, known := prev.held[field]
	if !known {
		if len(prev.series[field]) == 0 {
			return opt.Float{}
		}
		last = held{total: prev.series[field].total(), at: prev.At}
	}
	moved, elapsed := s.series[field].total()-last.total, s.At.Sub(last.at)
	if moved >= stepsForRate*step || elapsed >= longestHold {
		last = held{s.series[field].total(), s.At, opt.Of(moved / elapsed.Seconds())}
	}
	s.held[field] = last
	s.note(roundedNote)
	return last.rate
}
