package sweep

import (
	"errors"
	"sync"
	"time"

	"sonde/probe/frame"
)

// Controller drives a sweep: it sets a load, follows the level until it has told what
// there is to know, and sets the next one. It is fed every Frame, in order, by one
// goroutine, never by the screen's; the other methods may be called from any and
// return at once.
type Controller struct {
	levels   *Levels
	controls frame.Controls

	mu       sync.Mutex
	plan     Plan
	ladder   *ladder
	state    State
	why      string // why the sweep is not running, or ended
	hold     hold
	wanted   frame.Load    // what was asked of the Controls
	setAt    time.Duration // when; 0 until a Frame has shown it
	level    int           // number of the level that the newest Frame shows
	draining bool          // the load of the step comes when nothing is in flight any more
	before   int           // that number when the load was asked for; 0: it was on already
	visit    Row
	total    Row
	now      time.Duration
	begun    time.Duration // when the sweep began
	took     []time.Duration
	stopped  string // why the ladder was cut short; "" if it was not
}

// State is what a sweep is doing.
type State int

// States.
const (
	Idle    State = iota // none was begun
	Running              // a level is being held
	Paused               // stopped, or the operator took the load into his own hands; Resume goes on
	Done                 // all levels were tried
	Failed               // the session cannot go on
)

// NewController makes a Controller that feeds the table as well.
func NewController(c frame.Controls, l *Levels) *Controller {
	return &Controller{controls: c, levels: l}
}

// Levels is the table that the sweep fills.
func (c *Controller) Levels() *Levels { return c.levels }

// Start begins a sweep. Rows that are there already stay.
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
	c.plan, c.ladder = p, newLadder(p, len(c.levels.slos) > 0)
	c.state, c.why, c.stopped = Running, "", ""
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
	c.levels.Add(f)
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
	case f.Load.Asked != c.wanted || f.Load.Level == c.before:
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
	c.visit, c.total = c.levels.present()
	if c.hold.done(&c.visit, &c.total, f.At-c.setAt) {
		c.took = append(c.took, f.At-c.setAt)
		c.leave()
	}
}

// handedOver ends a sweep whose load somebody else has changed.
func (c *Controller) handedOver(f *frame.Frame) {
	if c.controls.Load().Concurrency > 0 {
		c.pause("the load was changed by hand")
		return
	}
	why := "the load was taken away"
	for _, e := range f.Events {
		if e.Kind == frame.EventNote {
			why = e.Text
		}
	}
	c.pause(why)
}

// leave ends a level and goes on to the next.
func (c *Controller) leave() {
	curve := c.curve()
	if why := tooMuch(&c.total, curve); why != "" {
		if c.ladder.cutsShort() {
			c.stopped = why
		}
		c.ladder.top(why)
	}
	c.advance()
}

// advance sets the next load of the ladder, or ends the sweep.
func (c *Controller) advance() {
	s, ok := c.ladder.next(c.curve())
	if !ok {
		c.state, c.why = Done, c.stopped
		c.controls.SetLoad(c.plan.After)
		return
	}
	c.hold = hold{limit: c.plan.PerLevel, meanE2E: time.Duration(c.total.E2E.Mean * float64(time.Millisecond))}
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
	c.hold.looked, c.hold.verdict = 0, NotJudged
	c.visit, c.total = Row{}, Row{}
	if now := c.controls.Load(); !c.plan.Open && now.Rate == 0 && now.Concurrency > load.Concurrency {
		idle := load
		idle.Concurrency = 0
		c.ask(idle)
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
	c.ask(load)
}

// ask wishes for a load.
func (c *Controller) ask(load frame.Load) {
	was := c.controls.Load()
	c.controls.SetLoad(load)
	c.wanted, c.setAt = c.controls.Load(), 0 // as it was brought into range
	c.before = c.level
	if c.wanted == was {
		c.before = 0 // no other level begins
	}
}

// drained tells whether nothing is left of the load before. It is not waited for for ever.
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

// curve are the rows of this sweep's kind.
func (c *Controller) curve() []Row { return Curve(c.levels.Rows(), c.plan.load(1)) }
