package sweep

import (
	"errors"
	"sync"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/slo"
)

// Controller drives a sweep: it sets a load, follows the level until it has shown what
// there is to know, and sets the next one. It is fed every Frame, in order, by one
// goroutine, never by the screen's; the other methods may be called from any and
// return at once.
type Controller struct {
	book     *level.Book
	controls frame.Controls

	mu       sync.Mutex
	plan     Plan
	ladder   *ladder
	state    State
	why      string // it is paused, failed or done before its time
	hold     hold
	wanted   frame.Load    // what was requested of the Controls
	setAt    time.Duration // when; 0 until a Frame has shown it
	level    int           // number of the level that the newest Frame shows
	draining bool          // the load of the step comes when nothing is in flight any more
	before   int           // that number when the load was requested; 0: it was on already
	visit    level.Level   // what the present stretch at the load has shown
	total    level.Level   // … and all of them together
	now      time.Duration
	begun    time.Duration // when the sweep began
	took     []time.Duration
	cutShort string // why given levels were not tried
}

// State is what a sweep is doing.
type State int

// States.
const (
	Idle    State = iota // none was begun
	Running              // a level is being held
	Paused               // stopped, or the operator changed the load; Resume goes on
	Done                 // all levels were tried
	Failed               // the session cannot go on
)

// NewController makes a Controller that feeds the Book as well.
func NewController(c frame.Controls, b *level.Book) *Controller {
	return &Controller{controls: c, book: b}
}

// Book holds the levels that the sweep fills.
func (c *Controller) Book() *level.Book { return c.book }

// Start begins a sweep. Levels that are there already stay.
func (c *Controller) Start(p Plan) error {
	if err := p.check(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == Running {
		return errors.New("a sweep is running")
	}
	if p.Load.Prefix == "" {
		p.Load.Prefix = c.controls.Load().Prefix
	}
	c.plan, c.ladder = p, newLadder(p, c.book.SLOs())
	c.state, c.why, c.cutShort = Running, "", ""
	c.begun, c.took = c.now, nil
	c.advance()
	return nil
}

// Stop ends the sweep where it is. The load stays on: it is the operator's from here.
func (c *Controller) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == Running && c.draining {
		c.begin(c.plan.load(c.hold.step.amount))
	}
	c.pause("stopped")
}

func (c *Controller) pause(why string) {
	if c.state == Running {
		c.state, c.why = Paused, why
	}
}

// Resume goes on with a sweep that was stopped, at the level that it was at; false
// if there is none.
func (c *Controller) Resume() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != Paused {
		return false
	}
	c.state, c.why = Running, ""
	c.set(c.hold.step)
	return true
}

// Add takes the next Frame.
func (c *Controller) Add(f *frame.Frame) {
	c.book.Add(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.level = f.At, f.Load.Level
	switch {
	case c.state != Running:
		return
	case f.Err != nil:
		c.state, c.why = Failed, f.Err.Error()
		return
	case c.controls.Load() != c.wanted:
		c.handedOver(f)
		return
	case f.Load.Requested != c.wanted || f.Load.Level == c.before:
		return // this Frame is from before
	}
	if c.setAt == 0 {
		c.setAt = f.At - f.Slice
	}
	if c.draining {
		if c.drained(f) {
			c.begin(c.plan.load(c.hold.step.amount))
		}
		return
	}
	c.visit, c.total, _ = c.book.Present()
	if c.hold.done(&c.visit, &c.total, f.At-c.setAt) {
		c.took = append(c.took, f.At-c.setAt)
		c.leave()
	}
}

// handedOver ends a sweep whose load somebody else has changed.
func (c *Controller) handedOver(f *frame.Frame) {
	why := "the load was taken away" // by a cap on tokens, say, which a note then explains
	if c.controls.Load().Concurrency > 0 {
		why = "the load was changed by hand"
	} else {
		for _, e := range f.Events {
			if e.Kind == frame.EventNote {
				why = e.Text
			}
		}
	}
	c.pause(why)
}

// leave ends a level and goes on to the next.
func (c *Controller) leave() {
	curve := c.curve()
	if why := tooMuch(&c.total, curve); why != "" {
		if c.ladder.cutsShort() {
			c.cutShort = why
		}
		c.ladder.top()
	}
	c.advance()
}

// advance sets the next load of the ladder, or ends the sweep.
func (c *Controller) advance() {
	s, ok := c.ladder.next(c.curve())
	if !ok {
		c.state, c.why = Done, c.cutShort
		c.controls.SetLoad(c.plan.After)
		return
	}
	c.hold = hold{slos: c.book.SLOs(), limit: c.plan.PerLevel, meanE2E: meanE2E(&c.total)}
	c.set(s)
}

// set goes for a step. A smaller load begins anew on an idle server: the streams that a drain
// leaves over go on in the waves of the larger one. What an open loop has piled up beyond what is
// served would take long to drain: it is cancelled.
func (c *Controller) set(s step) {
	load := c.plan.load(s.amount)
	if c.plan.Open && c.wanted.Rate > load.Rate && behind(&c.visit) != "" {
		c.controls.Abort()
	}
	c.hold.step = s
	c.hold.looked, c.hold.verdict = 0, slo.NotJudged
	c.visit, c.total = level.Level{}, level.Level{}
	if now := c.controls.Load(); !c.plan.Open && now.Rate == 0 && now.Concurrency > load.Concurrency {
		idle := load
		idle.Concurrency = 0
		c.request(idle)
		c.draining = true
		return
	}
	c.begin(load)
}

// begin puts the load of the step on, its streams spread over the length of a request.
func (c *Controller) begin(load frame.Load) {
	c.draining = false
	if r, can := c.controls.(ramper); can {
		r.SetRamp(min(max(c.hold.meanE2E, shortestRamp), longestRamp))
		defer r.SetRamp(0) // what an operator does takes effect at once
	}
	c.request(load)
}

// request sets a load.
func (c *Controller) request(load frame.Load) {
	was := c.controls.Load()
	c.wanted, c.setAt = c.controls.SetLoad(load), 0
	c.before = c.level
	if c.wanted == was {
		c.before = 0 // no other level begins
	}
}

// drained reports whether nothing is left of the load before. The wait has a limit.
func (c *Controller) drained(f *frame.Frame) bool {
	return f.Client.InFlight == 0 || f.At-c.setAt > 2*c.hold.meanE2E+longestRamp
}

// ramper is Controls that can spread the beginnings of the streams that a raise adds, so
// that they do not go on in one wave.
type ramper interface{ SetRamp(time.Duration) }

// Bounds of that time: a level cannot settle before all streams have begun.
const (
	shortestRamp = time.Second
	longestRamp  = 3 * time.Second
)

// curve are the levels of this sweep's kind.
func (c *Controller) curve() []level.Level { return level.Curve(c.book.Levels(), c.plan.load(1)) }
