package probe

import (
	"slices"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// The types of a Frame's parts, so that readers of Frames need no other import.
type (
	Client        = measure.Client
	LevelStats    = measure.LevelStats
	Summary       = measure.Summary
	Request       = measure.Request
	StreamCell    = measure.StreamCell
	Class         = measure.Class
	EngineStatus  = engine.Status
	Replica       = engine.Replica
	GPUStatus     = gpu.Status
	GPUReading    = gpu.Reading
	Roofline      = gpu.Bounds
	OptionalFloat = opt.Float
)

// States of one stream in a slice of time; see measure.StreamCell.
const (
	StreamIdle    = measure.StreamIdle
	StreamWaiting = measure.StreamWaiting
	StreamDecode  = measure.StreamDecode
)

// Frame is everything that was known at one tick of the Session. It is
// immutable: readers may keep it and share it.
type Frame struct {
	Seq   uint64
	At    time.Duration // since the session began, monotonic: end of the slice
	Slice time.Duration // length of the slice that this Frame closes

	// Our own process did not run within the slice (SIGSTOP, a suspended
	// machine): nothing in it is about the server.
	Stopped bool

	Target Target
	Load   LoadState
	Client Client
	Engine EngineStatus
	GPU    GPUStatus
	Health Health

	Roofline Roofline // what the hardware allows at least, for the live window

	Streams  []StreamCell // one per stream that is or was open in this slice, by Slot
	Requests []Request    // requests that ended in this slice
	Events   []Event      // what happened in this slice, for marks on all charts
	Err      error        // fatal: the session cannot go on
}

// Has tells whether something of that kind happened in the slice.
func (f *Frame) Has(kind EventKind) bool {
	return slices.ContainsFunc(f.Events, func(e Event) bool { return e.Kind == kind })
}

// Target says what is being measured.
type Target struct {
	Started  time.Time // wall time of the session's start, for labels only
	URL      string    // the final request address, without credentials
	Host     string    // host:port, for the title line
	Embedded bool      // our own engine in this process
	Seed     uint64
	Notes    []string // what had to be changed for the server to understand us
	Told     gpu.Told // what the engine says about the shape of its model
}

// LoadState is the load that was asked for and what became of the level.
type LoadState struct {
	Asked   Load
	Level   int  // counts settings from 1; 0 before the first load
	Settled bool // the level's numbers can be trusted
	Max     int  // safety cap for concurrency

	Stage Stage // what is done before the load that is waited for begins
}

// Health says whether the client itself is in the way.
type Health struct {
	Stamps         string    // "kernel" or "read"
	LateMsP99      float64   // our reads behind the arrival stamps
	CPU            opt.Float // cores used by this process: 1 is one core
	CoalescedShare float64   // chunks that shared a stamp with another one
	GCPauseMs      float64   // longest stop for a collection of garbage, of late
	Bottleneck     bool
	Why            string // what the bottleneck is, "" if none
}

// Event is something that happened, at a moment of the session.
type Event struct {
	At   time.Duration
	Kind EventKind
	Text string
}

// EventKind tells marks apart.
type EventKind int

// Kinds of events.
const (
	EventLoad   EventKind = iota // the load was changed
	EventLong                    // a long prompt was fired
	EventEffect                  // what a long prompt did to the other streams
	EventReset                   // statistics were reset
	EventNote                    // anything else worth a line
)
