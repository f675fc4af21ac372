package probe

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// refusalWatch tells once, and again after a success, what keeps requests from
// being served.
type refusalWatch struct {
	loading bool
	leftOut int // scheduled requests that were not sent, as told last
}

// watchRefusals tells that the server is loading its model, or that it asked to
// wait and the schedule of an open loop has holes.
func (s *Session) watchRefusals(now time.Duration, ended []measure.Request) []frame.Event {
	w := &s.refusals
	var events []frame.Event
	for i := range ended {
		loading := ended[i].Class == measure.Loading
		if loading && !w.loading {
			events = append(events, frame.Event{At: now, Kind: frame.EventNote, Text: "the server is loading its model: waiting for it"})
		}
		w.loading = loading
	}
	s.mu.Lock()
	pool := s.pool
	s.mu.Unlock()
	if pool == nil {
		return events
	}
	if left := pool.LeftOut(); left > 0 && w.leftOut == 0 {
		w.leftOut = left
		events = append(events, frame.Event{At: now, Kind: frame.EventNote, Text: "the server asked to wait (429): requests that were due meanwhile are left out of the schedule"})
	}
	return events
}
