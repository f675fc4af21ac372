// Package frame holds the values that readers read: a Frame is everything that was known
// at one tick of a session, and Controls is the one way back. The screen, the reports, the
// verdicts and recordings know this package and never the sources behind it.
package frame

import (
	"slices"
	"time"

	"sonde/gpu"
	"sonde/probe/arrivals"
	"sonde/probe/engine"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// Frame is everything that was known at one tick of the Session. It is
// immutable: readers may keep it and share it.
type Frame struct {
	Seq   uint64        `json:"seq"`
	At    time.Duration `json:"at_ms"`    // since the session began, monotonic: end of the slice
	Slice time.Duration `json:"slice_ms"` // length of the slice that this Frame closes

	// Our own process did not run within the slice (SIGSTOP, a suspended
	// machine): nothing in it is about the server.
	Stopped bool `json:"stopped,omitempty"`

	Target Target         `json:"-"`
	Load   LoadState      `json:"load"`
	Client measure.Client `json:"client"`
	Engine engine.Status  `json:"-"`
	GPU    gpu.Status     `json:"-"`
	Health Health         `json:"health"`
	// Workers send the load, if it is not this process.
	Workers []Worker `json:"workers,omitempty"`

	Limits   *roofline.Roofline `json:"-"`                 // the model on its hardware; nil: unknown. Not recorded
	Roofline roofline.Bounds    `json:"roofline,omitzero"` // what the Limits say about the live window

	Streams  []measure.StreamCell `json:"streams,omitempty"` // one per stream that is or was open in this slice, by Slot
	Requests []measure.Request    `json:"-"`                 // requests that ended in this slice
	Events   []Event              `json:"events,omitempty"`  // what happened in this slice, for marks on all charts
	Err      error                `json:"-"`                 // fatal: the session cannot go on
}

// Has reports whether something of that kind happened in the slice.
func (f *Frame) Has(kind EventKind) bool {
	return slices.ContainsFunc(f.Events, func(e Event) bool { return e.Kind == kind })
}

// Target says what is being measured.
type Target struct {
	Started  time.Time `json:"started"`  // wall time of the session's start, for labels only
	URL      string    `json:"url"`      // the final request address, without credentials
	Host     string    `json:"host"`     // host:port, for the title line
	Embedded bool      `json:"embedded"` // our own engine in this process
	Seed     uint64    `json:"seed"`
	Notes    []string  `json:"notes,omitempty"` // what had to be changed for the server to understand us

	ModelInfo roofline.ModelInfo `json:"model_told,omitzero"`
}

// LoadState is the requested load, and what has become of the level.
type LoadState struct {
	Requested Load `json:"asked"`
	Level     int  `json:"level"`           // counts settings from 1; 0 before the first load
	Settled   bool `json:"settled"`         // the level's numbers can be trusted
	Max       int  `json:"max_concurrency"` // safety cap for concurrency
	Watch     bool `json:"watch,omitempty"` // the session never sends a request, whatever its Controls are asked

	RateNow float64          `json:"rate_now,omitempty"` // open loop whose rate changes by itself: requests per second that are due now; else 0
	Ahead   arrivals.Outlook `json:"ahead,omitzero"`     // of such a load
	Replay  *TraceState      `json:"replay,omitempty"`   // nil: no trace is replayed

	Stage Stage `json:"stage,omitempty"` // what is done before the load that is waited for begins
}

// TraceState is what has become of the arrivals of a trace.
type TraceState struct {
	At       time.Duration `json:"at_ms"`  // in the schedule
	Length   time.Duration `json:"len_ms"` // of the schedule
	Arrivals int           `json:"arrivals"`
	Sent     int           `json:"sent"`
	Waiting  int           `json:"waiting"` // for a free stream, now

	Waited      int           `json:"waited"` // of those sent, those that waited for a free stream
	LongestWait time.Duration `json:"longest_wait_ms"`
	Missed      int           `json:"missed"`   // this process did not run when they were due
	LeftOut     int           `json:"left_out"` // their time came while nothing was to be sent
	Cut         int           `json:"cut"`      // prompts that were longer than the model's context allows
	CutTo       int           `json:"cut_to"`   // tokens: the longest of these as it was sent
	Skipped     int           `json:"skipped"`  // answers that alone are longer than the context
	Empty       int           `json:"empty"`    // lengths of 0, raised to 1
	Ended       bool          `json:"ended"`    // nothing more will be sent
}

// Rate is how many requests per second are due now; 0 in a closed loop, and after the end of a trace.
func (s *LoadState) Rate() float64 {
	if s.Moving() || s.Replay != nil {
		return s.RateNow
	}
	return s.Requested.Rate
}

// Moving reports whether the load changes by itself.
func (s *LoadState) Moving() bool { return s.Ahead.Step > 0 }

// Health says whether the client itself is in the way.
type Health struct {
	Stamps         string    `json:"stamps"`          // "kernel" or "read"
	LateMsP99      float64   `json:"late_ms_p99"`     // our reads behind the arrival stamps
	CPU            opt.Float `json:"cpu"`             // cores used by this process: 1 is one core
	CoalescedShare float64   `json:"coalesced_share"` // chunks that shared a stamp with another one
	GCPauseMs      float64   `json:"gc_pause_ms"`     // longest stop for a collection of garbage, of late
	Bottleneck     bool      `json:"bottleneck"`
	Why            string    `json:"why,omitempty"` // what the bottleneck is, "" if none
}

// Event is something that happened, at a moment of the session.
type Event struct {
	At   time.Duration `json:"at_ms"`
	Kind EventKind     `json:"kind"`
	Text string        `json:"text"`
}

// EventKind distinguishes marks.
type EventKind int

// Kinds of events.
const (
	EventLoad   EventKind = iota // the load was changed
	EventLong                    // a long prompt was fired
	EventEffect                  // what a long prompt did to the other streams
	EventReset                   // statistics were reset
	EventNote                    // anything else worth a line
)

// Stage is what has to be done before a session's load begins.
type Stage int

// Stages, in their order. After the last one the requested load runs.
const (
	StageLoad       Stage = iota // nothing is left to do
	StageConnecting              // looking for the model and the engine
	StageLoading                 // the server refuses requests: its model is not ready
	StageWorkers                 // the load waits for workers to join
	StageFitting                 // asking the server how many tokens a prompt has
)
