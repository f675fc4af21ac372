package arrivals

import (
	"sort"
	"time"
)

// Arrival is one request of an open loop. One without lengths takes those of the load.
type Arrival struct {
	At     time.Duration // when it is due
	In     int           // tokens of the prompt; 0: as the load has it
	Out    int           // tokens of the answer; 0: as the load has it
	Blocks []uint64      // what the prompt consists of, BlockTokens each: equal numbers are equal texts. nil: unknown
}

// BlockTokens is how many tokens of a prompt a block stands for. The last one may be shorter.
const BlockTokens = 512

// Trace is a list of arrivals in their order, the first at 0.
type Trace struct {
	Name     string
	Arrivals []Arrival
	Empty    int // arrivals without a token in the prompt or the answer, raised to one
}

// Length is when the last arrival is due.
func (t *Trace) Length() time.Duration {
	if len(t.Arrivals) == 0 {
		return 0
	}
	return t.Arrivals[len(t.Arrivals)-1].At
}

// Rate is the mean number of arrivals per second. A trace of a single instant counts as a second.
func (t *Trace) Rate() float64 {
	return float64(len(t.Arrivals)) / max(1, t.Length().Seconds())
}

// Means are the mean lengths of prompts and answers, in tokens.
func (t *Trace) Means() (in, out int) {
	n := max(1, len(t.Arrivals))
	for _, a := range t.Arrivals {
		in, out = in+a.In, out+a.Out
	}
	return (in + n/2) / n, (out + n/2) / n
}

// Count is how many arrivals are due before a time.
func (t *Trace) Count(at time.Duration) float64 {
	return float64(sort.Search(len(t.Arrivals), func(i int) bool { return t.Arrivals[i].At >= at }))
}

// Outlook is what a schedule that is known in advance holds: arrivals per second in stretches of
// equal length, the oldest first.
type Outlook struct {
	Step time.Duration `json:"step_ms"` // length of a stretch; 0: nothing is known in advance
	Past int           `json:"past"`    // stretches before the present one
	PerS []float32     `json:"per_s"`
}

// An Outlook reaches back a little, to show what is happening to the server now.
const (
	outlookPast  = 8
	outlookAhead = 56
	longestStep  = 5 * time.Second
)

// Look makes the Outlook of a schedule of a length, at a time since it began. count is how many
// arrivals are due before a time.
func Look(count func(time.Duration) float64, length, now time.Duration) Outlook {
	o := Outlook{Step: longestStep}
	for _, step := range []time.Duration{2 * time.Second, time.Second, time.Second / 2} {
		if length <= step*outlookAhead {
			o.Step = step
		}
	}
	present := int(now / o.Step)
	o.Past = min(present, outlookPast)
	edge := time.Duration(present-o.Past) * o.Step
	before := count(edge)
	for range o.Past + outlookAhead {
		edge += o.Step
		n := count(edge)
		o.PerS = append(o.PerS, float32((n-before)/o.Step.Seconds()))
		before = n
	}
	return o
}
