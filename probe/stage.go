package probe

import "sonde/probe/frame"

// enter sets the stage. Its callers follow each other: Connect, Calibrate, and
// whoever calls them.
func (s *Session) enter(to frame.Stage) { s.stage.Store(int32(to)) }

// stageNow is the stage that readers of Frames see: an operator who has requested
// no load is not waiting for one.
func (s *Session) stageNow() frame.Stage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loadAsked && s.wish.Concurrency == 0 && s.wish.Rate == 0 {
		return frame.StageLoad
	}
	return frame.Stage(s.stage.Load())
}
