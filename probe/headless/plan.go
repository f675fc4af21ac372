// Package headless runs one load without a screen and sums it up.
//
// The arithmetic lives in Accumulator, which only ever sees Frames: a live
// session, a recorded file and Frames made by hand give the same Summary. Run
// is the thin loop around it that turns the load on and off.
package headless

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/slo"
)

// Plan says what to run and for how long.
type Plan struct {
	Load   frame.Load
	Prefix string // what the prefix cache may reuse, for the Summary
	Seed   uint64

	Requests int           // requests to measure; 0 = no limit
	Duration time.Duration // length of the measured window; 0 = no limit

	WarmupRequests int           // requests before the window, in no count
	WarmupFor      time.Duration // or a time before the window

	DrainFor time.Duration // longest wait for streams in flight at the end; 0 = no limit
	SLOs     []SLO
}

// SLO is one service level to judge the run by.
type SLO = slo.Target

// metricSuccess names the SLO on the share of requests that succeed.
const metricSuccess = "success"

// warmupDrains tells whether the warm-up ends with an idle server. Where
// requests are counted it must, so that exactly the wanted number is measured;
// a timed run goes straight on, so that its window has no ramp.
func (p Plan) warmupDrains() bool {
	return p.WarmupRequests > 0 || p.WarmupFor > 0 && p.Requests > 0
}

func (p Plan) hasWarmup() bool { return p.WarmupRequests > 0 || p.WarmupFor > 0 }

// firstBudget is how many requests may be sent when the load is switched on;
// −1 is no limit.
func (p Plan) firstBudget() int {
	switch {
	case p.WarmupRequests > 0:
		return p.WarmupRequests
	case p.WarmupFor > 0:
		return unlimited
	}
	return p.measuredBudget()
}

func (p Plan) measuredBudget() int {
	if p.Requests > 0 {
		return p.Requests
	}
	return unlimited
}

const unlimited = -1
