package probe

import (
	"sonde/probe/frame"
)

// Follow hands every Frame to add, in order, until the Session ends. A reader
// that is late gets what is still kept.
func (s *Session) Follow(add func(*frame.Frame)) {
	ticks := s.subscribe()
	var seq uint64
	for {
		_, alive := <-ticks
		for _, f := range s.Since(seq) {
			seq = f.Seq
			add(f)
		}
		if !alive {
			return
		}
	}
}

// subscribe makes a channel that receives after every Frame and is closed when
// the Session ends.
func (s *Session) subscribe() <-chan struct{} {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		close(c)
		return c
	}
	s.ticks = append(s.ticks, c)
	return c
}

// announce tells the followers that there is a new Frame.
func (s *Session) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.ticks {
		select {
		case c <- struct{}{}:
		default: // it has not taken the last one yet
		}
	}
}

// endAnnouncements closes the followers' channels.
func (s *Session) endAnnouncements() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, c := range s.ticks {
		close(c)
	}
}
