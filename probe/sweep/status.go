package sweep

import (
	"time"

	"sonde/probe/frame"
)

// Status is where a sweep stands.
type Status struct {
	State   State
	Why     string // the sweep is paused, failed, or ended before it tried all levels
	Load    frame.Load
	Purpose Purpose
	Level   int // which level of the sweep it is, from 1
	More    int // levels to come; a guess unless they are given
	Guess   bool
	Settled bool
	N       int           // requests behind the level's figures so far
	Left    time.Duration // about the time left
	Elapsed time.Duration
}

// Status says where the sweep stands.
func (c *Controller) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Status{State: c.state, Why: c.why}
	if c.state == Idle {
		return s
	}
	s.Load, s.Purpose = c.wanted, c.hold.step.purpose
	if c.draining {
		s.Load = c.plan.load(c.hold.step.amount)
	}
	s.Level, s.Elapsed = c.ladder.count, c.now-c.begun
	s.Settled, s.N = c.visit.Settled, c.total.OK
	if c.state == Running {
		s.More, s.Guess = c.ladder.left(c.curve()), c.plan.automatic()
		held := time.Duration(0)
		if c.setAt > 0 {
			held = c.now - c.setAt
		}
		s.Left = max(0, c.usual()-held) + time.Duration(s.More)*c.usual()
	}
	return s
}

// usual is how long a level takes, by those before.
func (c *Controller) usual() time.Duration {
	if len(c.took) == 0 {
		return min(c.hold.deadline(&c.visit), usualLimit) / 2
	}
	recent := c.took[max(0, len(c.took)-4):]
	sum := time.Duration(0)
	for _, d := range recent {
		sum += d
	}
	return sum / time.Duration(len(recent))
}
