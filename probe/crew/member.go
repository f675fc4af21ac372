package crew

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// member is a worker as the operator knows it.
type member struct {
	id, name string
	number   int // in the order of joining
	working  bool
	state    State
	share    Share

	clock offset
	ahead time.Duration // of our clock
	trip  time.Duration // of the exchange that showed it
	heard time.Duration // our clock: when its newest report came

	sequence             uint64        // of that report
	gapSince             time.Duration // our clock: since when a report is missing; 0: none is
	begun, begunAtBudget int64
	standing             collect.Standing // in its newest report
	queue                []queued         // oldest first
	shown                collect.Standing // at the end of the newest slice that was taken
	until                time.Duration    // our clock: that end
	retrying             int
	retryAt              time.Duration
	health               frame.Health
	outTokens            int64
	outPerS              float64 // smoothed
	slots                map[int]int
	failed               string
}

// receive takes a worker's report.
func (o *Operator) receive(data []byte) {
	var r Report
	if err := decode(data, &r); err != nil {
		o.opt.Note(err.Error())
		return
	}
	o.mu.Lock()
	changed := o.take(&r)
	o.mu.Unlock()
	if changed {
		o.publish()
	}
}

// take files a report; changed: there are new shares because of it. o.mu is held.
func (o *Operator) take(r *Report) (changed bool) {
	m := o.members[r.Worker]
	if m == nil {
		m = &member{id: r.Worker, number: len(o.members) + 1, slots: map[int]int{}}
		o.members[r.Worker] = m
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}
	m.name, m.heard, m.state = r.Name, o.opt.Now(), r.State
	if r.Operator != o.id {
		return false
	}
	if r.State == Failed && r.Why != m.failed {
		o.note("worker %s cannot measure: %s", m.name, r.Why)
	}
	m.failed = r.Why
	if r.State == Left && m.working {
		o.note("worker %s has left", m.name)
		o.drop(m)
		return true
	}
	if r.State != Ready || len(m.clock.samples) < clockFirst {
		return false
	}
	m.ahead, m.trip, _ = m.clock.best()
	if !m.working {
		m.working = true
		m.sequence, m.until = r.Sequence, max(m.until, r.At-m.ahead-reportEvery)
		o.redistribute()
		o.note("worker %s has joined: %s, %s", m.name, workersText(len(o.working())), clockText(m.trip))
		changed = true
	} else if !o.isNext(m, r) {
		return false
	}
	m.sequence, m.begun = r.Sequence, r.Begun
	o.absorb(m, r)
	for _, text := range r.Notes {
		o.note("worker %s: %s", m.name, text)
	}
	return changed
}

// smoothing is of rates from reports: over about a second.
const smoothing = 0.25

// isNext reports whether a report of a working member is the one to take. NATS may lose some when its server
// restarts: the worker repeats them, and those after them wait. o.mu is held.
func (o *Operator) isNext(m *member, r *Report) bool {
	missing := int64(r.Sequence) - int64(m.sequence) - 1
	switch {
	case missing < 0:
		return false // it came before
	case missing == 0:
		m.gapSince = 0
		return true
	case m.gapSince == 0:
		m.gapSince = o.opt.Now()
	}
	if o.opt.Now()-m.gapSince < gapWait {
		return false
	}
	m.gapSince = 0
	o.note("%d reports of worker %s are missing: their requests are in no figure", missing, m.name)
	return true
}

// absorb brings a slice to our clock and our numbers of streams. o.mu is held.
func (o *Operator) absorb(m *member, r *Report) {
	c := &r.Slice.Client
	m.standing = collect.Standing{InFlight: c.InFlight, Prefill: c.Prefill, Thinking: c.Thinking, Oldest: c.OldestWaiting}
	m.retrying, m.retryAt, m.health = c.Retrying, c.RetryAt-m.ahead, r.Health
	m.outTokens += int64(c.SliceOutTokens)
	m.outPerS += smoothing * (float64(c.SliceOutTokens)/reportEvery.Seconds() - m.outPerS)
	for i := range r.Slice.Cells {
		r.Slice.Cells[i].Slot = o.slot(m, r.Slice.Cells[i].Slot)
	}
	for i := range r.Slice.Requests {
		q := &r.Slice.Requests[i]
		q.Slot, q.ID = o.slot(m, q.Slot), uint64(m.number)<<40|q.ID
		if q.Conversation != 0 {
			q.Conversation |= uint64(m.number) << 40
		}
		shift(q, -m.ahead)
	}
	m.queue = append(m.queue, queued{r.Slice, r.At - m.ahead, m.standing})
}

// queued is a slice that no tick has taken yet, when it ended, and what its worker was doing then.
type queued struct {
	slice    collect.Slice
	end      time.Duration // our clock
	standing collect.Standing
}

// Until is up to when all workers have reported, not later than now. Their reports come neither in step with our
// ticks nor at once: rates over a time that not all have reported would be too low. What they saw up
// to then is what Take hands over next.
func (o *Operator) Until(now time.Duration) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	until := now
	for _, m := range o.working() {
		until = min(until, m.newest())
	}
	for _, m := range o.members {
		if !m.working {
			m.take(o, math.MaxInt64)
			m.shown = collect.Standing{}
			continue
		}
		m.take(o, until)
	}
	return until
}

// take takes the slices up to an instant, and of the one that goes on after it the requests that ended before:
// a level that ends then would lack them, and one that begins does not have those after it. o.mu is held.
func (m *member) take(o *Operator, until time.Duration) {
	for len(m.queue) > 0 && m.queue[0].end <= until {
		q := m.queue[0]
		m.queue, m.shown, m.until = m.queue[1:], q.standing, q.end
		o.slices = append(o.slices, q.slice)
	}
	if len(m.queue) == 0 {
		return
	}
	next := &m.queue[0].slice
	ended := collect.Slice{}
	next.Requests = slices.DeleteFunc(next.Requests, func(r measure.Request) bool {
		if r.End <= until {
			ended.Requests = append(ended.Requests, r)
		}
		return r.End <= until
	})
	o.slices = append(o.slices, ended)
}

// newest is the end of the newest slice of a worker.
func (m *member) newest() time.Duration {
	if n := len(m.queue); n > 0 {
		return m.queue[n-1].end
	}
	return m.until
}

// slot is our number of a worker's stream. o.mu is held.
func (o *Operator) slot(m *member, theirs int) int {
	ours, known := m.slots[theirs]
	if !known {
		ours = o.slots
		o.slots++
		m.slots[theirs] = ours
	}
	return ours
}

// shift moves the instants of a request.
func shift(r *measure.Request, by time.Duration) {
	for _, at := range []*time.Duration{&r.Intent, &r.Start, &r.End} {
		*at += by
	}
	if r.Chunks > 0 {
		r.First, r.Last = r.First+by, r.Last+by
	}
	if r.HaveAnswer {
		r.Answer += by
	}
}

// Take hands over the slices up to the newest Until, and what the workers were doing then.
func (o *Operator) Take() ([]collect.Slice, collect.Standing) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.slices
	o.slices = nil
	var sum collect.Standing
	for _, m := range o.members {
		sum.InFlight += m.shown.InFlight
		sum.Prefill += m.shown.Prefill
		sum.Thinking += m.shown.Thinking
		sum.Oldest = max(sum.Oldest, m.shown.Oldest)
	}
	return out, sum
}

// Workers are all that have reported, in the order of their joining.
func (o *Operator) Workers() []frame.Worker {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []frame.Worker
	now := o.opt.Now()
	for _, m := range o.sorted() {
		w := frame.Worker{
			Name: m.name, State: frame.WorkerWaiting, Why: m.failed, Streams: m.standing.InFlight,
			Begun: m.begun, OutTokens: m.outTokens, OutPerS: m.outPerS, Health: m.health, ClockWithin: m.trip / 2,
		}
		switch {
		case m.state == Failed:
			w.State = frame.WorkerFailed
		case m.state == Left || now-m.heard > lostAfter:
			w.State = frame.WorkerLost
		case m.working && now-m.heard > 2*reportEvery+reportEvery/2:
			w.State = frame.WorkerLate
		case m.working:
			w.State = frame.WorkerReady
		}
		if !w.Takes() {
			w.OutPerS = 0
		}
		out = append(out, w)
	}
	return out
}

const (
	clockFirst = 4 // exchanges before a worker gets a share
	clockEvery = time.Second
	clockSoon  = 20 * time.Millisecond
	clockWait  = 500 * time.Millisecond
)

// clocks asks the workers for their time, new ones at once.
func (o *Operator) clocks(ctx context.Context) {
	for {
		wait := clockEvery
		for _, id := range o.ids() {
			if o.askClock(ctx, id) < clockFirst {
				wait = clockSoon
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-o.wake: // a worker has appeared
		case <-time.After(wait):
		}
	}
}

func (o *Operator) ids() (all []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.sorted() {
		if o.opt.Now()-m.heard <= lostAfter {
			all = append(all, m.id)
		}
	}
	return all
}

// askClock makes one exchange with a worker, and returns how many there were.
func (o *Operator) askClock(ctx context.Context, id string) int {
	ctx, cancel := context.WithTimeout(ctx, clockWait)
	defer cancel()
	asked := o.opt.Now()
	answer, err := o.opt.Conn.RequestWithContext(ctx, clockSubject(o.opt.Run, id), nil)
	answered := o.opt.Now()
	var theirs time.Duration
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.members[id]
	if err == nil && decode(answer.Data, &theirs) == nil {
		m.clock.add(asked, answered, theirs)
	}
	return len(m.clock.samples)
}

func workersText(n int) string {
	if n == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers", n)
}

// clockText says how far a clock is from ours. Clocks count from the start of each process.
func clockText(trip time.Duration) string {
	return fmt.Sprintf("its clock is known to ±%s ms", units.Sig2(float64(trip)/2/float64(time.Millisecond)))
}
