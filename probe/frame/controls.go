package frame

import (
	"fmt"
	"slices"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/length"
	"sonde/probe/prompt"
	"sonde/probe/units"
)

// Load is the load that an operator requests.
type Load struct {
	Concurrency  int              `json:"concurrency"`     // closed loop: streams in flight; open loop: the cap
	Rate         float64          `json:"rate"`            // open loop: requests per second; 0 = closed loop
	Arrivals     arrivals.Process `json:"poisson"`         // open loop: the gaps between arrivals
	Ramp         arrivals.Ramp    `json:"ramp,omitzero"`   // open loop: how the rate comes to Rate
	Trace        string           `json:"trace,omitempty"` // open loop: the file whose arrivals and lengths are replayed; Rate and the lengths are its means. "": none
	InputTokens  int              `json:"input_tokens"`
	OutputTokens int              `json:"output_tokens"`

	// How the lengths of single requests scatter around these means.
	InputShape  length.Shape `json:"input_shape,omitzero"`
	OutputShape length.Shape `json:"output_shape,omitzero"`

	// Conversations: each request sends what was said before it, and one message more.
	Turns int           `json:"turns,omitempty"`    // messages of the user in a conversation; 0: every request stands alone
	Think time.Duration `json:"think_ms,omitempty"` // closed loop: the mean pause between two turns

	Prefix string `json:"prefix"` // what a prefix cache may reuse of synthetic prompts: a prompt.Prefix
}

// Idle is the load without requests: no streams, and no schedule.
func (l Load) Idle() Load {
	l.Concurrency, l.Rate, l.Ramp, l.Trace = 0, 0, arrivals.Ramp{}, ""
	return l
}

// IsIdle reports whether no requests are to be sent.
func (l Load) IsIdle() bool { return l.Concurrency == 0 && l.Rate == 0 }

// Schedule is the rate of an open loop over time, since it was requested.
func (l Load) Schedule() arrivals.Rate {
	if l.Rate <= 0 {
		return arrivals.Rate{}
	}
	return arrivals.Rate{To: l.Rate, Ramp: l.Ramp}
}

// Input is the requested length of prompts.
func (l Load) Input() length.Length { return length.Length{Mean: l.InputTokens, Shape: l.InputShape} }

// Output is the requested length of answers.
func (l Load) Output() length.Length {
	return length.Length{Mean: l.OutputTokens, Shape: l.OutputShape}
}

// ChangeFrom describes what an operator changed of an older load, in one line.
func (l Load) ChangeFrom(old Load) string {
	switch {
	case l.Ramp != old.Ramp && l.Ramp.Over > 0:
		return fmt.Sprintf("rate %s → %s requests/s within %s", units.Exact(l.Ramp.From), units.Exact(l.Rate), units.Span(l.Ramp.Over))
	case l.Rate != old.Rate:
		return fmt.Sprintf("rate %s → %s requests/s", units.Exact(old.Rate), units.Exact(l.Rate))
	case l.Arrivals != old.Arrivals:
		return fmt.Sprintf("arrivals: %s → %s", old.Arrivals, l.Arrivals)
	case l.Concurrency != old.Concurrency:
		return fmt.Sprintf("concurrency %d → %d", old.Concurrency, l.Concurrency)
	case l.Prefix != old.Prefix:
		return fmt.Sprintf("prompts: %s → %s prefixes", old.Prefix, l.Prefix)
	case l.Turns != old.Turns:
		return fmt.Sprintf("conversations of %d → %d turns", max(1, old.Turns), max(1, l.Turns))
	case l.Think != old.Think:
		return fmt.Sprintf("think time %s → %s", units.Span(old.Think), units.Span(l.Think))
	case l.Input() != old.Input():
		return fmt.Sprintf("prompt %s → %s tokens", old.Input(), l.Input())
	}
	return fmt.Sprintf("output %s → %s tokens", old.Output(), l.Output())
}

// NextPrefix is the value of Load.Prefix after another one, round and round.
func NextPrefix(now string) string {
	at := slices.Index(prompt.Prefixes, prompt.Prefix(now))
	return string(prompt.Prefixes[(at+1)%len(prompt.Prefixes)])
}

// Watching is what a session that only watches says to a command that would send something.
const Watching = "watching: start without --watch to send load"

// Controls is the only way from a reader back to the sources: the operator's
// commands. Every method returns at once; its effect shows in a later Frame. A session
// that only watches (LoadState.Watch) refuses what would send a request, with an Event.
type Controls interface {
	// Load is the requested load, including changes that no Frame shows yet.
	Load() Load
	// SetLoad replaces the requested load and returns it: values out of range are brought into
	// range. Lowering the concurrency drains: running requests end by themselves.
	SetLoad(Load) Load
	// ChangeLoad is SetLoad with what change makes of the requested load, in one step:
	// nothing that others request meanwhile is lost. change must not call back.
	ChangeLoad(change func(*Load))
	// FireLong sends one extra request with a prompt of many times the usual
	// length, and reports in an Event what it did to the others.
	FireLong()
	// Abort cancels everything in flight and sets the concurrency to 0.
	Abort()
	// ResetStatistics empties windows, levels and counts.
	ResetStatistics()
	// SetWindow chooses the live window: 10, 30 or 60 s.
	SetWindow(seconds int)
	// ChooseReplica narrows the engine's and the GPUs' figures to one replica of
	// EngineStatus.Replicas, by its name; "" is all of them. The load stays as it is.
	ChooseReplica(name string)
	// ChooseModel chooses whose figures are read where EngineStatus.OnPage has several
	// models. Requests go on naming the model that they named.
	ChooseModel(name string)
}

// Frames is where readers get Frames from: a live Session or a recording.
type Frames interface {
	// Since returns the Frames after seq, oldest first, as many as are kept.
	// It never blocks.
	Since(seq uint64) []*Frame
}
