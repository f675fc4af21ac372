package truth

import (
	"testing"
	"time"
)

const ms = time.Millisecond

func TestFirstTokenIsDueOnTheSchedule(t *testing.T) {
	spread := Round{Streams: 4, Gap: 40 * ms}
	steps := Round{Streams: 4, Gap: 40 * ms, InSteps: true}
	for _, c := range []struct {
		name    string
		round   Round
		request int
		arrived time.Duration
		want    time.Duration
	}{
		{"stream 0 at the start", spread, 0, 0, 40 * ms},
		{"stream 1 has its own phase", spread, 1, 0, 10 * ms},
		{"stream 3 has its own phase", spread, 3, 5 * ms, 30 * ms},
		{"request 7 is stream 3 again", spread, 7, 100 * ms, 110 * ms},
		{"too near to its instant", spread, 1, 9500 * time.Microsecond, 50 * ms},
		{"exactly the lead time before", spread, 1, 9 * ms, 10 * ms},
		{"in steps all wait for the same", steps, 3, 81 * ms, 120 * ms},
		{"in steps, another stream", steps, 2, 100 * ms, 120 * ms},
	} {
		if got := c.round.first(c.request, c.arrived); got != c.want {
			t.Errorf("%s: due %v after the round began, want %v", c.name, got, c.want)
		}
	}
}
