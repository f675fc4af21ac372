package canary

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sonde/probe/measure"
	"sonde/probe/units"
)

// watch is one target with what is known of it.
type watch struct {
	target   Target
	schedule *schedule
	ended    func(endpoint, model string, r *measure.Request)
	announce func(Change)

	// turn is taken by whoever probes: what follows is theirs alone. Others read the row.
	turn     chan struct{}
	history  history
	budget   budget
	failures int // in a row

	mu  sync.Mutex // guards the row
	row Row
}

func newWatch(t Target, index, of int, o Options, announce func(Change)) *watch {
	w := &watch{
		target: t, announce: announce, ended: o.Ended, turn: make(chan struct{}, 1),
		budget:  t.budget(),
		history: history{slos: t.SLOs},
	}
	now := time.Now()
	w.schedule = newSchedule(now, w.budget.stretch(t.Every), index, of, o.Seed)
	w.row = Row{Target: t, Model: t.Model, Since: now, Next: w.schedule.due, Verdict: noData, Every: w.schedule.every}
	return w
}

// run probes until ctx ends.
func (w *watch) run(ctx context.Context) {
	for sleepUntil(ctx, w.snapshot().Next) {
		if time.Until(w.snapshot().Next) <= 0 { // else somebody has just probed
			_, _ = w.probe(ctx, w.target.Timeout)
		}
	}
}

// OverBudget is the error of a probe that the budget has no room for.
type OverBudget struct {
	Budget int           // tokens an hour
	Wait   time.Duration // until it has room
}

func (e *OverBudget) Error() string {
	return fmt.Sprintf("the budget of %d tokens an hour is spent: the next probe is possible in %s", e.Budget, units.Span(e.Wait.Round(time.Second)))
}

// affords reports whether the budget has room for a probe; else the next one is due when it
// has.
func (w *watch) affords(now time.Time) error {
	wait := w.budget.wait(now)
	if wait <= 0 {
		return nil
	}
	w.schedule.postpone(now.Add(wait))
	w.update(now, func(r *Row) { r.Next = w.schedule.due })
	return &OverBudget{w.target.Budget, wait}
}

// ownPause is by how much a probe exceeds its limit only where our own process did not run.
const ownPause = 2 * time.Second

// probe waits for its turn, makes one request and takes what it says. The error says why
// nothing was learned about the server.
func (w *watch) probe(ctx context.Context, atMost time.Duration) (Row, error) {
	limited, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-limited.Done():
		return Row{}, errors.New("another probe of the target took all of the time")
	}
	if err := w.affords(time.Now()); err != nil {
		return Row{}, err
	}
	began := time.Now()
	w.update(began, func(r *Row) { r.Began = began })
	model, request := w.target.Prober.Probe(limited)
	now := time.Now()
	switch {
	case ctx.Err() != nil:
		return Row{}, w.dismiss(now, context.Cause(ctx))
	case now.Sub(began) > atMost+ownPause:
		return Row{}, w.dismiss(now, errors.New("this process was stopped while it waited for the answer"))
	case limited.Err() != nil && request.Class == measure.Cancelled:
		request.Class, request.Error = measure.Timeout, "no complete answer within "+units.Span(atMost)
	}
	w.take(now, model, &request)
	return w.snapshot(), nil
}

// dismiss goes on after a probe that says nothing about the server, and returns why.
func (w *watch) dismiss(now time.Time, why error) error {
	w.schedule.after(now, w.failures, 0)
	w.update(now, func(r *Row) { r.Began, r.Next = time.Time{}, w.schedule.due })
	return why
}

// take adds a probe that ended.
func (w *watch) take(now time.Time, model string, request *measure.Request) {
	w.budget.spend(now, request)
	if request.Class == measure.OK {
		w.failures = 0
	} else {
		w.failures++
	}
	w.history.add(now, request)
	w.schedule.every = w.budget.stretch(w.target.Every)
	w.schedule.after(now, w.failures, request.RetryAfter)
	w.update(now, func(r *Row) { r.take(w, model, request, now) })
	if w.ended != nil {
		w.ended(w.target.Endpoint, w.row.Model, request)
	}
}

// update changes the row, judges it anew, and announces a change of state.
func (w *watch) update(now time.Time, change func(*Row)) {
	w.mu.Lock()
	was := w.row
	change(&w.row)
	w.row.Spent = w.budget.spent(now)
	w.row.State, w.row.Verdict = w.history.judge(now)
	if v, hopeless := w.budget.verdict(); hopeless {
		w.row.State, w.row.Verdict = Unknown, v
	}
	changed := w.row.State != was.State
	if changed {
		w.row.Since = now
	}
	row := w.row
	w.mu.Unlock()
	if changed {
		w.announce(Change{At: now, Was: was.State, WasFor: now.Sub(was.Since), Row: row})
	}
}

func (w *watch) snapshot() Row {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.row
}

// sleepUntil reports whether the moment came before the end of ctx.
func sleepUntil(ctx context.Context, moment time.Time) bool {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
