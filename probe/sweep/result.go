package sweep

import (
	"sonde/probe/frame"
	"sonde/probe/level"
)

// Result is what the levels of one curve say together.
type Result struct {
	Curve    []level.Level // smallest load first
	Knee     *Knee
	NoKnee   NoKnee    // why there is no knee
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
	return Conclude(c.book.Levels(), like, len(c.book.SLOs()) > 0)
}
