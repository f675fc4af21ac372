package crew

import (
	"context"
	"fmt"
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
	standing             collect.Standing
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
		m.sequence = r.Sequence
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
	o.slices = append(o.slices, r.Slice)
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

// Take hands over the slices since its last call, and what the workers are doing now.
func (o *Operator) Take() ([]collect.Slice, collect.Standing) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.slices
	o.slices = nil
	var sum collect.Standing
	for _, m := range o.members {
		sum.InFlight += m.standing.InFlight
		sum.Prefill += m.standing.Prefill
		sum.Thinking += m.standing.Thinking
		sum.Oldest = max(sum.Oldest, m.standing.Oldest)
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
