package crew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sonde/probe/arrivals"
	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/guard"
)

// Options are what an Operator works with.
type Options struct {
	Conn *nats.Conn // the Operator closes it
	Run  string
	Job  Job
	Name string // of this operator, for people

	Now  func() time.Duration // the session's clock
	Note func(string)         // a line for the operator
	Fail func(error)          // a panic
}

// Operator has the load of a session sent by workers. It stands in for the pool of streams of this
// process: all methods return at once, except for Close.
type Operator struct {
	opt Options
	id  string

	mu      sync.Mutex
	load    frame.Load
	since   time.Duration // our clock: when it took effect
	ramp    time.Duration
	left    int64 // requests that may still begin at the last SetBudget; below 0: any number
	aborts  uint64
	change  uint64
	members map[string]*member
	slots   int             // of all workers
	slices  []collect.Slice // that no tick has taken yet
	wake    chan struct{}   // a worker has appeared
	ended   bool

	cancel context.CancelFunc
	group  sync.WaitGroup
}

// NewOperator drives a run, which CheckFree has found free.
func NewOperator(ctx context.Context, opt Options) (*Operator, error) {
	o := &Operator{opt: opt, id: nats.NewInbox(), left: -1, members: map[string]*member{}, wake: make(chan struct{}, 1)}
	_, err := opt.Conn.Subscribe(reportSubject(opt.Run, "*"), func(m *nats.Msg) {
		defer guard.Catch("workers", opt.Fail)
		o.receive(m.Data)
	})
	if err != nil {
		return nil, fmt.Errorf("NATS: %w", err)
	}
	ctx, o.cancel = context.WithCancel(ctx)
	o.spawn(func() { o.direct(ctx) })
	o.spawn(func() { o.clocks(ctx) })
	return o, nil
}

func (o *Operator) spawn(f func()) {
	o.group.Add(1)
	guard.Go("workers", o.opt.Fail, func() {
		defer o.group.Done()
		f()
	})
}

// direct repeats the Plan, and looks for workers that are gone.
func (o *Operator) direct(ctx context.Context) {
	tick := time.NewTicker(planEvery)
	defer tick.Stop()
	for {
		o.mu.Lock()
		o.dropSilent()
		o.mu.Unlock()
		o.publish()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// dropSilent hands the shares of workers that are silent to the others. o.mu is held.
func (o *Operator) dropSilent() {
	now := o.opt.Now()
	for _, m := range o.sorted() {
		if m.working && now-m.heard > lostAfter {
			o.note("worker %s is lost: %s", m.name, lostText(m.standing.InFlight))
			o.drop(m)
		}
	}
}

// drop hands the share of a worker to the others. o.mu is held.
func (o *Operator) drop(m *member) {
	m.working, m.standing = false, collect.Standing{}
	o.redistribute()
}

func lostText(inFlight int) string {
	if inFlight == 0 {
		return "nothing was in flight there"
	}
	return fmt.Sprintf("what became of its %d requests in flight is unknown", inFlight)
}

func (o *Operator) note(format string, args ...any) { o.opt.Note(fmt.Sprintf(format, args...)) }

// redistribute makes new shares: the load, or those who share it, changed. It returns when they take
// effect. o.mu is held.
func (o *Operator) redistribute() (from time.Duration) {
	o.change++
	from = o.opt.Now() + lead
	list := o.working()
	begun := make([]int64, len(list))
	for i, m := range list {
		begun[i] = m.begun
	}
	load := rest(o.load, from-o.since)
	may := budgets(max(0, o.stillLeft()), begun)
	for i, m := range list {
		share, later := part(load, i, len(list))
		m.share = Share{
			Change: o.change, From: from + later + m.ahead, Load: share, Ramp: o.ramp, Budget: -1, Aborts: o.aborts,
			Longs: m.share.Longs,
		}
		if o.left >= 0 {
			m.share.Budget = may[i]
		}
	}
	return from
}

// stillLeft is how many requests may begin, as far as is known. o.mu is held.
func (o *Operator) stillLeft() int64 {
	left := o.left
	for _, m := range o.members {
		left -= m.begun - m.begunAtBudget
	}
	return left
}

// publish sends the Plan as it is now.
func (o *Operator) publish() {
	o.mu.Lock()
	p := Plan{Operator: o.id, Host: o.opt.Name, Job: o.opt.Job, Shares: map[string]Share{}, Ended: o.ended}
	for id, m := range o.members {
		if m.working {
			m.share.Seen = m.sequence
			p.Shares[id] = m.share
		}
	}
	o.mu.Unlock()
	data, err := encode(p)
	if err == nil {
		err = o.opt.Conn.Publish(planSubject(o.opt.Run), data)
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) && !errors.Is(err, nats.ErrReconnectBufExceeded) {
		o.opt.Note("NATS: " + err.Error())
	}
}

// working are those that have a share, in a fixed order. o.mu is held.
func (o *Operator) working() []*member {
	return slices.DeleteFunc(o.sorted(), func(m *member) bool { return !m.working })
}

func (o *Operator) sorted() []*member {
	return slices.SortedFunc(maps.Values(o.members), func(a, b *member) int { return cmp.Compare(a.number, b.number) })
}

// Set changes the load, and returns when that takes effect.
func (o *Operator) Set(l frame.Load) time.Duration {
	o.mu.Lock()
	o.load, o.since = l, o.opt.Now()+lead
	from := o.redistribute()
	o.mu.Unlock()
	o.publish()
	return from
}

// SetRamp spreads the beginnings of the streams that a later raise adds.
func (o *Operator) SetRamp(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ramp = d
}

// SetBudget allows n more requests to begin; below 0 any number.
func (o *Operator) SetBudget(n int) {
	o.mu.Lock()
	o.left = int64(n)
	for _, m := range o.members {
		m.begunAtBudget = m.begun
	}
	o.redistribute()
	o.mu.Unlock()
	o.publish()
}

// FireLong has one worker send a long prompt.
func (o *Operator) FireLong(int) {
	o.mu.Lock()
	if list := o.working(); len(list) > 0 {
		list[0].share.Longs++
	}
	o.mu.Unlock()
	o.publish()
}

// Abort cancels everything in flight and sets the load to nothing, at once.
func (o *Operator) Abort() {
	o.mu.Lock()
	o.load = o.load.Idle()
	o.aborts++
	o.redistribute()
	for _, m := range o.members {
		m.share.From = 0
	}
	o.mu.Unlock()
	o.publish()
}

// closingWait is how long Close waits for the workers to end what runs.
const closingWait = 2 * time.Second

// Close has the workers cancel everything, waits for that, and leaves the run.
func (o *Operator) Close() {
	o.Abort()
	for until := o.opt.Now() + closingWait; o.opt.Now() < until && o.inFlight() > 0; {
		time.Sleep(reportEvery / 5)
	}
	o.mu.Lock()
	o.ended = true
	for _, m := range o.members {
		m.working = false // what they have reported is all
	}
	o.mu.Unlock()
	o.publish()
	o.cancel()
	o.group.Wait()
	_ = o.opt.Conn.FlushTimeout(time.Second)
	o.opt.Conn.Close()
}

func (o *Operator) inFlight() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.members {
		n += m.standing.InFlight
	}
	return n
}

// Retrying is how many streams wait because the server refused them, and when the first of them tries again.
func (o *Operator) Retrying() (n int, next time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.members {
		if m.working && m.retrying > 0 {
			if n == 0 || m.retryAt < next {
				next = m.retryAt
			}
			n += m.retrying
		}
	}
	return n, next
}

// Outlook is how many requests per second are due now, where a ramp changes that, else 0; and what
// is ahead.
func (o *Operator) Outlook() (rateNow float64, ahead arrivals.Outlook) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.load.Schedule().Outlook(o.opt.Now() - o.since)
}

// Replay is nil: a trace is not shared among workers.
func (o *Operator) Replay() *frame.TraceState { return nil }

// LeftOut is 0: the workers report what they leave out themselves.
func (o *Operator) LeftOut() int { return 0 }

// CutTo is 0: the workers report it themselves.
func (o *Operator) CutTo() int { return 0 }
