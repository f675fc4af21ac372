// Package sweep finds out what load a service holds: it steps through loads, and says where
// throughput stops paying for latency (the knee), what the load beyond it runs into, and
// which is the largest load that meets the SLOs.
//
// It decides on Levels alone, and what it wants goes through Controls alone: the live screen
// and `sonde sweep` use the same code.
package sweep

import (
	"errors"
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
)

// Plan says which loads a sweep tries.
type Plan struct {
	Load  frame.Load // lengths, arrivals, and the cap of an open loop: all but the amount
	Open  bool       // amounts are requests per second, else streams
	Rungs []float64  // the loads to try, streams or requests per second, in this order; none: found automatically
	From  float64    // automatic: the first load, in the same unit; 0 is 1
	Cap   float64    // automatic: the largest load, in the same unit

	// PerLevel is the longest time at one load; 0 is chosen by how long requests
	// take. A level that has settled and has samples enough ends before.
	PerLevel time.Duration

	After frame.Load // the load when the sweep has ended by itself
}

// check says what is wrong with the plan.
func (p *Plan) check() error {
	for _, r := range p.Rungs {
		if !(r > 0) {
			return fmt.Errorf("a level must be above 0, not %v", r)
		}
	}
	if p.Open && p.Load.Concurrency < 1 {
		return errors.New("a sweep over rates needs a cap on streams")
	}
	return nil
}

// load is the setting of an amount.
func (p *Plan) load(amount float64) frame.Load {
	l := p.Load
	if p.Open {
		l.Rate = amount
		return l
	}
	l.Rate, l.Concurrency = 0, int(amount)
	return l
}

func (p *Plan) automatic() bool { return len(p.Rungs) == 0 }

// Purpose is why a level is tried.
type Purpose int

// Purposes.
const (
	Given      Purpose = iota // it is in the list
	Climbing                  // doubling the load
	AtBoundary                // closing in on the largest load within the SLOs
	Confirming                // more samples at that load
	AtKnee                    // closing in on the knee
)

// Result is what the levels of one curve say together.
type Result struct {
	Curve    []level.Level // smallest load first
	Knee     *Knee
	NoKnee   string    // why there is no knee
	Boundary *Boundary // nil without SLOs
}

// Conclude judges the levels that can be compared with a load.
func Conclude(levels []level.Level, like frame.Load, haveSLOs bool) Result {
	r := Result{Curve: level.Curve(levels, like)}
	r.Knee, r.NoKnee = FindKnee(r.Curve)
	if haveSLOs {
		b := FindBoundary(r.Curve)
		r.Boundary = &b
	}
	return r
}

// Result is what the levels of the present sweep say so far.
func (c *Controller) Result() Result {
	c.mu.Lock()
	like := c.plan.load(1) // any amount
	c.mu.Unlock()
	return Conclude(c.book.Detailed(), like, len(c.book.SLOs()) > 0)
}
