package probe

import (
	"context"
	"errors"
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// loadingWait is the time between two looks at a server that loads its model.
const loadingWait = time.Second

// identify finds out which engine answers and which model to ask for. While the
// server loads its model it waits. A gateway that has no model list, or keeps it
// to itself, is no obstacle if the model was named.
func (s *Session) identify(ctx context.Context, c engine.Config) (engine.Identity, error) {
	for waits := 0; ; waits++ {
		id, err := engine.Detect(ctx, c)
		var list *engine.ListError
		if err == nil || !errors.As(err, &list) {
			return id, err
		}
		switch class := measure.Class(list.Class); {
		case class == measure.Connect || class == measure.TLS || class == measure.Cancelled:
			return id, err
		case s.opt.Model != "":
			s.Note(list.Says + ": going on with the model that was named")
			id.Model = s.opt.Model
			return id, nil
		case class != measure.Loading:
			return id, err
		case waits == 0:
			s.enter(frame.StageLoading)
			s.Note("the server is loading its model: waiting for it")
		}
		select {
		case <-ctx.Done():
			return id, ctx.Err()
		case <-time.After(loadingWait):
		}
	}
}

// Note adds a line to the next Frame's events.
func (s *Session) Note(text string) {
	at := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, frame.Event{At: at, Kind: frame.EventNote, Text: text})
}
