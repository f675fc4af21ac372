package probe

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// refusalsInARow of the same context-length message end the load: every further
// prompt of this length would get the same answer.
const refusalsInARow = 3

// tooLongWatch counts identical refusals of too long a prompt.
type tooLongWatch struct {
	message string
	count   int
}

// add takes a request that ended, and tells whether it was the last straw.
func (w *tooLongWatch) add(r *measure.Request) bool {
	switch {
	case r.Long || r.Class == measure.Cancelled:
		return false
	case r.Class != measure.ContextLength:
		*w = tooLongWatch{}
		return false
	case r.Error != w.message:
		*w = tooLongWatch{message: r.Error}
	}
	w.count++
	return w.count == refusalsInARow
}

// watchTooLong ends the load when the server keeps refusing prompts of this length.
func (s *Session) watchTooLong(now time.Duration, ended []measure.Request) []frame.Event {
	for i := range ended {
		if !s.tooLong.add(&ended[i]) {
			continue
		}
		message := s.tooLong.message
		s.tooLong = tooLongWatch{}
		s.stopLoad()
		return []frame.Event{{At: now, Kind: frame.EventNote, Text: "stopped: the prompt is too long for the server: " + message}}
	}
	return nil
}
