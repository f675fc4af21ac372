// Package crew spreads one load over many processes, and brings together what they see.
//
// An operator publishes its Plan, whole, several times a second: it is a state and not a command, so
// that a lost message or a new connection costs nothing. It is the lease of the workers too: without one they
// end what runs. Each worker publishes a Report four times a second. Times travel on the clock of
// the worker, whose offset the operator measures.
package crew

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"regexp"
	"time"

	"sonde/probe/collect"
	"sonde/probe/frame"
)

// Plan is what the operator of a run wants.
type Plan struct {
	Operator string // differs from run to run
	Host     string // where it runs, for people
	Job      Job
	Shares   map[string]Share // by worker
	Ended    bool             // the operator leaves: what runs is cancelled
}

// Job is what a worker measures. It holds no secrets: keys and certificates are the worker's own.
type Job struct {
	URL            string
	API            string
	Model          string
	Prefix         string
	Seed           uint64
	SeedFixed      bool // the same prompts in every run
	Idle           time.Duration
	MaxConcurrency int
	Load           frame.Load // its lengths
}

// Share is one worker's part of the load.
type Share struct {
	Change uint64        // counts changes: what follows is applied once for each
	From   time.Duration // the worker's clock: when the change takes effect
	Load   frame.Load
	Ramp   time.Duration
	Budget int64  // requests that may have begun since the worker joined, all in all; below 0: any number
	Aborts uint64 // counts them
	Longs  uint64 // counts long prompts
	Seen   uint64 // the newest report that has come; the worker repeats those after it
}

// Report is what a worker saw in one slice of time.
type Report struct {
	Worker   string // differs from process to process
	Name     string // for people
	Operator string // whose Plan it follows; "" if none
	Sequence uint64 // counts reports to this operator, from 1
	State    State
	Why      string // why it failed
	At       time.Duration
	Slice    collect.Slice
	Health   frame.Health
	Begun    int64 // requests since it joined
	Notes    []string
}

// State is how far a worker has come.
type State int

// States of a worker.
const (
	Waiting    State = iota // for an operator
	Connecting              // to the endpoint
	Ready
	Failed // its endpoint does not answer: see Report.Why
	Left   // it was stopped
)

const (
	// reportEvery is a Session's usual slice.
	reportEvery = 250 * time.Millisecond
	// planEvery is how often a Plan is repeated.
	planEvery = 250 * time.Millisecond
	// lease is how long a worker goes on without a Plan. A NATS server restarts within it.
	lease = 5 * time.Second
	// lostAfter is how long a worker may be silent before its share goes to the others.
	lostAfter = 1500 * time.Millisecond
	// gapWait is how long a report waits for one before it, which NATS lost.
	gapWait = 2 * time.Second
	// repeatAfter is how long a worker waits until it takes a report for lost.
	repeatAfter = 2 * planEvery
	// lead is between a change and the instant at which all workers apply it.
	lead = 200 * time.Millisecond
)

// runForm is what the name of a run may look like: it is a part of NATS subjects.
var runForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckRun returns the problem with the name of a run; "" if there is none.
func CheckRun(name string) string {
	if !runForm.MatchString(name) {
		return "must be letters, digits, dashes and underscores, 64 at most"
	}
	return ""
}

// Subjects of a run.
func planSubject(run string) string           { return "sonde." + run + ".plan" }
func reportSubject(run, worker string) string { return "sonde." + run + ".report." + worker }
func clockSubject(run, worker string) string  { return "sonde." + run + ".clock." + worker }

// encode writes a message.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

// decode reads a message; one of another version of the program may not fit.
func decode(data []byte, into any) error {
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(into); err != nil {
		return fmt.Errorf("a message on NATS does not fit this version of sonde: %w", err)
	}
	return nil
}
