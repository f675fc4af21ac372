// Package bench runs a load, or a ladder of loads, without a screen.
//
// What is measured lies in Levels, which only ever see Frames: a live session, a recorded
// file and Frames made by hand give the same Outcome. Run and RunSweep are the thin loops
// around them that turn the load on and off.
package bench

import (
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/slo"
)

// Plan says what to run and for how long.
type Plan struct {
	Load   frame.Load
	Prefix string // what the prefix cache may reuse, for the report
	Seed   uint64

	Requests int           // requests to measure; 0 = no limit
	Duration time.Duration // length of the measured window; 0 = no limit

	WarmupRequests int           // requests before the window, excluded from results
	WarmupFor      time.Duration // or a time before the window

	DrainFor time.Duration // longest wait for streams in flight at the end; 0 = no limit
	SLOs     []slo.Target
}

// warmupDrains reports whether the warm-up ends with an idle server. Where
// requests are counted it must, so that exactly the wanted number is measured;
// a timed run goes straight on, so that its window has no ramp.
func (p *Plan) warmupDrains() bool {
	return p.WarmupRequests > 0 || p.WarmupFor > 0 && p.Requests > 0
}

func (p *Plan) hasWarmup() bool { return p.WarmupRequests > 0 || p.WarmupFor > 0 }

// firstBudget is how many requests may be sent when the load is switched on;
// −1 is no limit.
func (p *Plan) firstBudget() int {
	switch {
	case p.WarmupRequests > 0:
		return p.WarmupRequests
	case p.WarmupFor > 0:
		return unlimited
	}
	return p.measuredBudget()
}

func (p *Plan) measuredBudget() int {
	if p.Requests > 0 {
		return p.Requests
	}
	return unlimited
}

const unlimited = -1

// Outcome is what a run at one load amounts to.
type Outcome struct {
	Plan      Plan
	Level     level.Level
	Verdicts  []diagnose.Verdict  // as they stood at the end of the measured window
	Incidents []diagnose.Incident // of the measured window

	Interrupted bool
	Warmup      int           // requests of the warm-up that ended
	Ready       bool          // a request succeeded: the server's model is loaded
	LoadGone    bool          // something else took the load away: a cap on tokens, say
	Wait        time.Duration // the run ended because the server asked to wait this long; 0: it did not
	TooLong     string
	Refused     bool // the run ended because the server refuses the prompt as too long; it says TooLong
}
