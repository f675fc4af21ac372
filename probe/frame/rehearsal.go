package frame

// Switch is something about the engine that can be changed while it runs, for
// rehearsals and demonstrations. Only the embedded engine has any.
type Switch struct {
	Group       string // what kind of thing it is, such as "faults"
	Name        string
	Description string // what it does, in a few words
	Value       string // how it stands; "" is off
}

// On reports whether it is switched on.
func (s Switch) On() bool { return s.Value != "" }

// Rehearsal is an engine in which faults can be switched on. Its methods return
// at once.
type Rehearsal interface {
	// Switches are all that there are, those of a group together.
	Switches() []Switch
	// Flip switches one on or off. Its error is one sentence.
	Flip(name string) error
}
