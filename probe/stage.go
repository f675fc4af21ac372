package probe

// Stage is what has to be done before a session's load begins.
type Stage int

// Stages, in their order. Once the last is over the load goes as it is asked for.
const (
	StageLoad       Stage = iota // nothing is left to do
	StageConnecting              // model and engine are looked for
	StageLoading                 // the server refuses because its model is not ready
	StageFitting                 // the server is asked how many tokens a prompt has: see Session.Calibrate
)

// enter says what is done now. Its callers follow each other: Connect, Calibrate,
// and who calls them.
func (s *Session) enter(to Stage) { s.stage.Store(int32(to)) }

// stageNow is the stage as readers of Frames see it: who has asked for no load waits
// for none.
func (s *Session) stageNow() Stage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loadAsked && s.wish.Concurrency == 0 && s.wish.Rate == 0 {
		return StageLoad
	}
	return Stage(s.stage.Load())
}
