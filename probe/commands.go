package probe

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/prompt"
)

// commands carries out what an operator, or a runner in his place, asks for. What
// concerns the statistics waits for the next tick; the load changes at once. One lock
// guards the requested load and the pool, so that the two never part.
type commands struct {
	opt       Options
	now       func() time.Duration
	collector *collect.Collector         // used on the ticking goroutine only
	long      *longWatch                 // likewise
	conn      atomic.Pointer[connection] // nil before Connect has succeeded
	pool      generators                 // has no load before that

	mu     sync.Mutex // guards what follows
	load   frame.Load
	chosen bool    // the operator has chosen a load, and not only lengths
	todo   []order // oldest first
	events []frame.Event
	fatal  error

	shown frame.Load // the load at the end of the newest slice; used on the ticking goroutine only
}

// order is something to do at the first tick whose slice holds that instant.
type order struct {
	at time.Duration
	do func(now time.Duration)
}

func newCommands(opt Options, now func() time.Duration, collector *collect.Collector, long *longWatch) *commands {
	l := opt.Load
	l = l.Idle() // before Begin: the lengths, and no requests
	return &commands{opt: opt, now: now, collector: collector, long: long, load: l, shown: l}
}

// carryOut does what was ordered up to an instant, on the ticking goroutine. The slice ends now.
func (c *commands) carryOut(upTo, now time.Duration) (frame.Load, []frame.Event, error) {
	c.mu.Lock()
	var todo []order
	var events []frame.Event
	todo, c.todo = partition(c.todo, func(o order) bool { return o.at <= upTo })
	events, c.events = partition(c.events, func(e frame.Event) bool { return e.At <= upTo })
	fatal := c.fatal
	c.mu.Unlock()
	for _, o := range todo {
		o.do(now)
	}
	return c.shown, events, fatal
}

// partition tells those for which something holds from the others; both keep their order.
func partition[T any](list []T, holds func(T) bool) (yes, no []T) {
	for _, v := range list {
		if holds(v) {
			yes = append(yes, v)
		} else {
			no = append(no, v)
		}
	}
	return yes, no
}

// Load is the requested load, including changes that no Frame shows yet.
func (c *commands) Load() frame.Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load
}

// idleChosen reports whether the operator has asked for no load.
func (c *commands) idleChosen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chosen && c.load.IsIdle()
}

// SetLoad replaces the requested load and returns it as it was brought into range.
func (c *commands) SetLoad(l frame.Load) frame.Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(l)
	return c.load
}

// ChangeLoad changes the requested load, in one step.
func (c *commands) ChangeLoad(change func(*frame.Load)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.load
	change(&l)
	c.set(l)
}

// stopLoad ends the load, whatever keeps it going; what runs drains. It reports
// whether there was one.
func (c *commands) stopLoad() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.load
	if l.Concurrency == 0 {
		return false
	}
	c.set(l.Idle())
	return true
}

// set is SetLoad under the lock.
func (c *commands) set(l frame.Load) {
	old := c.load
	if l == old { // said once more: no load is a choice too, before one has begun
		c.chosen = c.chosen || l.Concurrency == 0
		return
	}
	if c.opt.Watch && !l.IsIdle() {
		c.refuse()
	}
	if l = c.opt.clamp(l); l == old {
		return
	}
	c.chosen = c.chosen || l.Concurrency != old.Concurrency || l.Rate != old.Rate
	c.apply(l, l.ChangeFrom(old))
}

// refuse says that a session that watches sends nothing. The lock is held.
func (c *commands) refuse() { c.events = append(c.events, note(c.now(), frame.Watching)) }

// Begin starts the load of the Options, except for what the operator has chosen
// meanwhile.
func (c *commands) Begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.load
	if !c.chosen {
		l.Concurrency, l.Rate, l.Ramp, l.Trace = c.opt.Load.Concurrency, c.opt.Load.Rate, c.opt.Load.Ramp, c.opt.Load.Trace
	}
	c.apply(c.opt.clamp(l), "")
}

// apply makes l the load and the start of a new level, with an event if there is
// something to say. The lock is held.
func (c *commands) apply(l frame.Load, text string) {
	at := c.now()
	c.load = l
	if synthetic, ok := c.opt.Prompts.(*prompt.Synthetic); ok {
		synthetic.SetPrefix(prompt.Prefix(l.Prefix))
	}
	if c.conn.Load() != nil {
		at = c.pool.Set(l)
	}
	c.todo = append(c.todo, order{at, func(time.Duration) {
		c.shown = l
		c.collector.SetLevel(at, steadyState(l))
	}})
	if text != "" {
		c.events = append(c.events, frame.Event{At: at, Kind: frame.EventLoad, Text: text})
	}
}

// endless keeps a level from settling: a trace never comes to rest.
const endless = time.Duration(math.MaxInt64)

// steadyState is what a level at that load has to reach.
func steadyState(l frame.Load) collect.Goal {
	switch {
	case l.Trace != "":
		return collect.Goal{Over: endless, Idle: l.Concurrency == 0}
	case l.Rate > 0:
		return collect.Goal{Over: l.Ramp.Over, CV: l.Arrivals.CV, Idle: l.Concurrency == 0}
	}
	return collect.Goal{Streams: l.Concurrency, Think: l.Think, Idle: l.Concurrency == 0}
}

// SetBudget allows at most n more requests to be sent; load.NoLimit lifts the limit.
func (c *commands) SetBudget(n int) { c.pool.SetBudget(n) }

// SetRamp spreads the starts of the streams that a later raise of the concurrency
// adds evenly over a time.
func (c *commands) SetRamp(d time.Duration) { c.pool.SetRamp(d) }

// Abort cancels everything in flight and sets the concurrency to 0.
func (c *commands) Abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pool.Abort()
	c.chosen = true
	c.apply(c.load.Idle(), "aborted: everything in flight was cancelled")
}

// ResetStatistics empties windows, levels and counts.
func (c *commands) ResetStatistics() {
	c.order(c.collector.Reset, frame.Event{Kind: frame.EventReset, Text: "statistics were reset"})
}

// SetWindow chooses the live window.
func (c *commands) SetWindow(seconds int) {
	c.order(func(time.Duration) { c.collector.SetWindow(time.Duration(seconds) * time.Second) })
}

// order has something done at the next tick, and dates its events now.
func (c *commands) order(do func(now time.Duration), events ...frame.Event) {
	at := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.todo = append(c.todo, order{at, do})
	for _, e := range events {
		e.At = at
		c.events = append(c.events, e)
	}
}

// FireLong sends one extra request with a prompt of many times the usual length.
func (c *commands) FireLong() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opt.Watch {
		c.refuse()
		return
	}
	conn := c.conn.Load()
	if conn == nil {
		return
	}
	tokens := longTokens(c.load, conn.engine.Latest().Identity)
	at := c.now()
	c.todo = append(c.todo, order{at, func(now time.Duration) {
		c.long.fire(tokens, now)
		c.pool.FireLong(tokens)
	}})
	c.events = append(c.events, frame.Event{At: at, Kind: frame.EventLong, Text: fmt.Sprintf("a prompt of %d tokens was sent", tokens)})
}

// ChooseReplica narrows the figures of engine and GPUs to one replica; "" is all.
func (c *commands) ChooseReplica(name string) {
	text := "figures of the engine and its GPUs: all replicas"
	if name != "" {
		text = "figures of the engine and its GPUs: only " + name
	}
	c.choose(text, func(e engineSource) { e.SetReplica(name) })
}

// ChooseModel chooses the model whose engine figures are shown.
func (c *commands) ChooseModel(name string) {
	c.choose("figures of the engine: model "+name, func(e engineSource) { e.SetModel(name) })
}

// choose hands a choice to the engine's source, and marks the moment.
func (c *commands) choose(text string, do func(engineSource)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.conn.Load()
	if conn == nil {
		return // there is nothing to choose from
	}
	do(conn.engine)
	c.events = append(c.events, note(c.now(), text))
}

// Note adds a line to the next Frame's events.
func (c *commands) Note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, note(c.now(), text))
}

// Fail makes the error the last word: readers see it in the next Frame.
func (c *commands) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fatal == nil {
		c.fatal = err
	}
}
