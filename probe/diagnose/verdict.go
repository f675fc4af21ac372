// Package diagnose turns Frames into verdicts: what is wrong, with the
// evidence, and what to do about it.
//
// A wrong verdict is worse than none. A rule whose inputs are unknown does not
// apply, and every rule names the figures it rests on.
package diagnose

// Level says how much a verdict matters.
type Level int

// Levels, weakest first.
const (
	Unknown Level = iota // nothing can be said yet
	Healthy
	Note // worth knowing, no fault
	Warn
	Bad
)

// String is the level in a word.
func (l Level) String() string {
	return [...]string{"unknown", "healthy", "note", "warn", "bad"}[l]
}

// Verdict is one finding.
type Verdict struct {
	Rule     string   // name of the rule, stable
	Says     string   // one sentence with its figures
	Evidence []string // what it rests on
	Advice   string   // what to do; "" if nothing
	Level    Level

	aside bool // worth knowing beside good health: it comes after it
}
