package bench

import (
	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/level"
)

// Outcome is what a run at one load amounts to.
type Outcome struct {
	Plan     Plan
	Level    level.Level
	Verdicts []diagnose.Verdict // as they stood at the end of the measured window

	Interrupted bool
	Warmup      int  // requests of the warm-up that ended
	Ready       bool // a request succeeded: the server's model is loaded
	LoadGone    bool // something else took the load away: a cap on tokens, say
	TooLong     string
	Refused     bool // the run ended because the server refuses the prompt as too long; it says TooLong
}

// findings keep the verdicts on each level: those of the Frames that count for it.
type findings struct {
	id    int // of the level that is judged; 0: none
	judge *diagnose.Judge
	past  map[int][]diagnose.Verdict // of the levels that were left
}

// maxFindings bounds the levels whose verdicts are kept; the oldest go.
const maxFindings = 1024

// add takes a Frame that counts for a level; 0 is none.
func (s *findings) add(f *frame.Frame, id int) {
	if id != s.id {
		s.rest()
		s.id = id
	}
	if id == 0 {
		return
	}
	if s.judge == nil {
		s.judge = diagnose.New()
	}
	s.judge.Add(f)
}

// rest keeps what was found, and lets go of the Frames that the judge holds.
func (s *findings) rest() {
	if s.judge == nil {
		return
	}
	if s.past == nil {
		s.past = map[int][]diagnose.Verdict{}
	}
	s.past[s.id], s.judge = s.judge.Verdicts(), nil
	for len(s.past) > maxFindings {
		oldest := s.id
		for id := range s.past {
			oldest = min(oldest, id)
		}
		delete(s.past, oldest)
	}
}

// of are the verdicts on a level.
func (s *findings) of(id int) []diagnose.Verdict {
	if s.judge != nil && s.id == id {
		return s.judge.Verdicts()
	}
	if v, known := s.past[id]; known {
		return v
	}
	return diagnose.New().Verdicts() // nothing has been seen
}
