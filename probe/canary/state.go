package canary

// State is how a target fares.
type State int

// States, the worst last.
const (
	Unknown State = iota // no probe has ended yet
	OK
	Slow    // it answers, but slower than usual, or than its SLO
	Failing // some probes fail
	Down    // no probe succeeds
)

// States are all of them.
var States = []State{Unknown, OK, Slow, Failing, Down}

// String is the state in a word. The words are in metrics and JSON, so they do not change.
func (s State) String() string { return [...]string{"unknown", "ok", "slow", "failing", "down"}[s] }
