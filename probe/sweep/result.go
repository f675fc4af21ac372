package sweep

import (
	"sonde/probe/frame"
)

// Result is what the levels of one curve say together.
type Result struct {
	Curve    []Row // smallest load first
	Knee     *Knee
	NoKnee   string   // why there is no knee; "" if there is one
	Boundary Boundary // without SLOs it is empty
}

// Conclude judges the rows that can be compared with a load.
func Conclude(rows []Row, like frame.Load, slos []SLO) Result {
	r := Result{Curve: Curve(rows, like)}
	r.Knee, r.NoKnee = FindKnee(r.Curve)
	if len(slos) > 0 {
		r.Boundary = FindBoundary(r.Curve)
	}
	return r
}

// Result is what the levels of the present sweep say so far.
func (c *Controller) Result() Result {
	c.mu.Lock()
	like := c.plan.load(1) // any amount
	c.mu.Unlock()
	return Conclude(c.levels.Rows(), like, c.levels.slos)
}
