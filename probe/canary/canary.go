// Package canary probes endpoints with one small request every few seconds, forever: it knows
// for each whether it answers, how fast, and since when that has been so.
//
// What it keeps of a target is bounded by the last hour. Screens, lines and metrics read Rows
// and Changes; no probe waits for them.
package canary

import (
	"context"
	"sync"
	"time"

	"sonde/probe/guard"
	"sonde/probe/measure"
	"sonde/probe/slo"
)

// Prober makes requests to one endpoint.
type Prober interface {
	// Probe makes one request and returns when it has ended, or soon after ctx, with the model
	// that it named, "" if none is known yet. It is never called twice at the same time.
	Probe(ctx context.Context) (model string, r measure.Request)
	Close()
}

// Target is an endpoint and a model to probe.
type Target struct {
	Name     string // for people: a profile, or the endpoint
	Endpoint string // the address without credentials
	Model    string // requested; "" is the first one that the server lists
	Prober   Prober

	Every   time.Duration // between the beginnings of two probes
	Timeout time.Duration // of a whole probe
	Input   int           // tokens of a prompt
	Output  int           // tokens of an answer
	Budget  int           // tokens an hour; 0: no limit
	SLOs    []slo.Target
}

// Options configure a Canary.
type Options struct {
	Targets []Target
	Seed    uint64 // of the jitter
	// Ended is called after every probe, in the goroutine of its target; nil: nobody is told.
	Ended func(endpoint, model string, r *measure.Request)
}

// Canary watches targets.
type Canary struct {
	watches []*watch
	changes chan Change
}

// changesKept is how many changes wait for a reader that is late. Further ones are lost to it:
// the Rows still have the present state.
const changesKept = 1024

// New makes a Canary. It sends nothing before Run or Once.
func New(o Options) *Canary {
	c := &Canary{changes: make(chan Change, changesKept)}
	for i, t := range o.Targets {
		c.watches = append(c.watches, newWatch(t, i, len(o.Targets), o, c.announce))
	}
	return c
}

func (c *Canary) announce(change Change) {
	select {
	case c.changes <- change:
	default:
	}
}

// Changes are the changes of state as they happen. The channel is closed when Run or Once
// returns.
func (c *Canary) Changes() <-chan Change { return c.changes }

// Rows are the states of all targets, in their order.
func (c *Canary) Rows() []Row {
	rows := make([]Row, len(c.watches))
	for i, w := range c.watches {
		rows[i] = w.snapshot()
	}
	return rows
}

// Run probes all targets until ctx ends. An error of our own, which ends it as well, is the
// result.
func (c *Canary) Run(ctx context.Context) error {
	return c.each(ctx, len(c.watches), (*watch).run)
}

// onceAtOnce is how many targets Once probes at the same time.
const onceAtOnce = 16

// Once probes every target once.
func (c *Canary) Once(ctx context.Context) error {
	return c.each(ctx, onceAtOnce, func(w *watch, ctx context.Context) { _, _ = w.probe(ctx, w.target.Timeout) })
}

// Now probes the target with that index at once, beside its schedule but never beside another
// probe of it, within its budget and at most for so long. The probe counts like any other. The
// error says why there was none.
func (c *Canary) Now(ctx context.Context, index int, atMost time.Duration) (Row, error) {
	return c.watches[index].probe(ctx, atMost)
}

// each lets do work on all targets, on at most so many at the same time.
func (c *Canary) each(ctx context.Context, atOnce int, do func(*watch, context.Context)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer close(c.changes)
	slots := make(chan struct{}, max(1, atOnce))
	var all sync.WaitGroup
	for _, w := range c.watches {
		all.Add(1)
		slots <- struct{}{}
		fail := func(err error) { cancel(err) }
		guard.Go("probes of "+w.target.Name, fail, func() {
			defer all.Done()
			defer func() { <-slots }()
			defer guard.Catch("probes of "+w.target.Name, fail) // before the others are waited for
			defer w.target.Prober.Close()
			do(w, ctx)
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
