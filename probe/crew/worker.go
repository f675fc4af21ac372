package crew

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sonde/probe/frame"
	"sonde/probe/guard"
)

// Session measures what a worker's share of the load does. *probe.Session is one.
type Session interface {
	SetLoad(frame.Load) frame.Load
	SetRamp(time.Duration)
	SetBudget(int)
	FireLong()
	Abort()
	// Follow hands over every Frame until the Session is closed.
	Follow(add func(*frame.Frame))
	// Epoch is the instant from which the times of Frames count.
	Epoch() time.Time
	Close()
}

// WorkerOptions are what a worker works with.
type WorkerOptions struct {
	Conn *nats.Conn
	Run  string
	Name string // for people
	// Open makes a connected Session without load.
	Open func(ctx context.Context, job Job) (Session, error)
	Say  func(string) // a line for whoever watches the worker
	Fail func(error)  // a panic
}

// worker carries out its share of an operator's Plan.
type worker struct {
	opt   WorkerOptions
	id    string
	epoch time.Time

	mu       sync.Mutex
	operator string // whose Plan is followed; "" if none
	heard    time.Time
	state    State
	why      string
	failed   time.Time // when it began to
	session  Session
	shift    time.Duration // from the Session's clock to ours
	pending  Share         // the newest change
	aborts   uint64
	longs    uint64
	begun    int64
	sequence uint64
	unseen   []sentReport   // oldest first
	ending   sync.WaitGroup // sessions that close
	stopped  bool           // no operator is followed any more
}

// Work takes part in a run until the context ends. Its load ends with it.
func Work(ctx context.Context, opt WorkerOptions) error {
	w := &worker{opt: opt, id: nats.NewInbox()[len(nats.InboxPrefix):], epoch: time.Now()}
	plans, err := opt.Conn.Subscribe(planSubject(opt.Run), func(m *nats.Msg) {
		defer guard.Catch("worker", opt.Fail)
		w.receive(ctx, m.Data)
	})
	if err != nil {
		return fmt.Errorf("NATS: %w", err)
	}
	clock, err := opt.Conn.Subscribe(clockSubject(opt.Run, w.id), func(m *nats.Msg) {
		if data, err := encode(w.now()); err == nil {
			_ = m.Respond(data)
		}
	})
	if err != nil {
		return fmt.Errorf("NATS: %w", err)
	}
	opt.Say(fmt.Sprintf("waiting for an operator of run %q", opt.Run))
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			_, _ = plans.Unsubscribe(), clock.Unsubscribe()
			w.mu.Lock()
			w.state, w.stopped = Left, true
			w.mu.Unlock()
			w.report(Report{})
			w.leave("")
			w.ending.Wait()
			_ = opt.Conn.FlushTimeout(time.Second)
			return nil
		case <-tick.C:
			w.idle()
		}
	}
}

func (w *worker) now() time.Duration { return time.Since(w.epoch) }

// retryAfter is how long a worker waits before it tries an endpoint again that did not answer.
const retryAfter = 5 * time.Second

// idle reports where no Session does, and gives up an operator that is silent.
func (w *worker) idle() {
	w.mu.Lock()
	silent := w.operator != "" && time.Since(w.heard) > lease
	again := w.state == Failed && time.Since(w.failed) > retryAfter
	reports := w.session == nil
	w.mu.Unlock()
	if silent {
		w.leave("no word from the operator: everything in flight is cancelled")
	}
	if again { // with the next Plan
		w.leave("")
	}
	if reports || silent {
		w.report(Report{})
	}
}

// leave ends the Session and waits for the next operator.
func (w *worker) leave(why string) {
	w.mu.Lock()
	session, operator := w.session, w.operator
	w.session, w.operator, w.state, w.why = nil, "", Waiting, ""
	if session != nil {
		w.ending.Add(1)
	}
	w.mu.Unlock()
	if why != "" && operator != "" {
		w.opt.Say(why)
	}
	if session == nil {
		return
	}
	session.Abort()
	guard.Go("worker", w.opt.Fail, func() {
		defer w.ending.Done()
		session.Close()
	})
}

// receive takes a Plan.
func (w *worker) receive(ctx context.Context, data []byte) {
	var p Plan
	if err := decode(data, &p); err != nil {
		w.opt.Say(err.Error())
		return
	}
	w.mu.Lock()
	current := w.operator
	if current == p.Operator {
		w.heard = time.Now()
	}
	w.mu.Unlock()
	switch {
	case p.Ended && current == p.Operator:
		w.leave("the operator has left")
	case p.Ended || current != "" && current != p.Operator:
		return // whoever came first has the run
	case current == "":
		w.follow(ctx, &p)
	default:
		share := p.Shares[w.id]
		w.apply(share)
		w.repeat(share.Seen)
	}
}

// follow begins to work for an operator.
func (w *worker) follow(ctx context.Context, p *Plan) {
	w.mu.Lock()
	if w.stopped {
		w.mu.Unlock()
		return
	}
	w.operator, w.heard, w.state, w.why = p.Operator, time.Now(), Connecting, ""
	w.sequence, w.begun, w.pending, w.unseen = 0, 0, Share{}, nil
	share := p.Shares[w.id]
	w.aborts, w.longs = share.Aborts, share.Longs
	w.mu.Unlock()
	w.opt.Say("the operator is on " + p.Host + ": measuring " + p.Job.URL)
	guard.Go("worker", w.opt.Fail, func() { w.open(ctx, p.Operator, p.Job) })
}

// open connects to the endpoint.
func (w *worker) open(ctx context.Context, operator string, job Job) {
	session, err := w.opt.Open(ctx, job)
	w.mu.Lock()
	gone := w.operator != operator
	switch {
	case err != nil && !gone:
		w.state, w.why, w.failed = Failed, err.Error(), time.Now()
	case err == nil && !gone:
		w.session, w.state, w.shift = session, Ready, session.Epoch().Sub(w.epoch)
	}
	w.mu.Unlock()
	switch {
	case err != nil:
		w.opt.Say(err.Error())
	case gone:
		session.Close()
	default:
		guard.Go("worker", w.opt.Fail, func() { session.Follow(func(f *frame.Frame) { w.add(operator, f) }) })
	}
}

// apply carries out a share: what is new in it, at its instant.
func (w *worker) apply(s Share) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.session == nil:
		return
	case s.Change == 0 && w.pending.Change > 0: // the operator has given it to others: it does not hear us
		w.session.SetLoad(w.pending.Load.Idle())
		w.pending = Share{}
		return
	case s.Change == 0:
		return
	}
	if s.Aborts > w.aborts {
		w.aborts = s.Aborts
		w.session.Abort()
	}
	for ; w.longs < s.Longs; w.longs++ {
		w.session.FireLong()
	}
	if s.Change <= w.pending.Change {
		return
	}
	w.pending = s
	session := w.session
	time.AfterFunc(max(0, s.From-w.now()), func() { w.begin(session, s) })
}

// begin makes a share the load, unless a newer one came or the Session has ended.
func (w *worker) begin(session Session, s Share) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.session != session || w.pending.Change != s.Change {
		return
	}
	session.SetRamp(s.Ramp)
	if s.Budget >= 0 {
		session.SetBudget(int(max(0, s.Budget-w.begun)))
	} else {
		session.SetBudget(-1)
	}
	session.SetLoad(s.Load)
}
