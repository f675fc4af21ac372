// Package load keeps requests in flight: a closed loop of streams, or an open
// loop at a rate, both changed while they run. Lowering the load drains; only
// Abort cancels.
package load

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"sonde/probe/api"
	"sonde/probe/arrivals"
	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/prompt"
)

// Doer makes one request; *api.Client is one.
type Doer interface {
	Do(ctx context.Context, call api.Call, obs api.Observer) api.Result
}

// Options are what a Pool works with.
type Options struct {
	Doer     Doer
	Prompts  prompt.Source
	NewTrack func() *collect.Track // a slot for one stream at a time
	Epoch    time.Time
	Seed     uint64
	Fail     func(error)     // a panic in a stream
	Exact    bool            // arrivals are waited for more exactly than timers do; not in virtual time
	Trace    *arrivals.Trace // what a load with a Trace replays
	// Room is the longest prompt that the model takes beside an answer of so many tokens; nil: unknown.
	Room func(output int) (tokens int, known bool)
}

// NoLimit is the budget without a limit.
const NoLimit = -1

// Pool runs the streams. All methods return at once and may be called from any
// goroutine.
type Pool struct {
	opt Options

	mu        sync.Mutex
	setting   frame.Load
	ramp      time.Duration // what a raise of the closed loop is spread over
	budget    int           // requests that may still begin; NoLimit
	running   int           // workers (closed loop) or requests (open loop), without long prompts
	slots     []*stream
	waiting   []due           // open loop: arrivals that wait for a slot under the cap
	trace     *replayed       // open loop: the trace that is replayed; nil: none
	heldUntil time.Duration   // open loop: the server asked for no requests before
	ctx       context.Context // of all requests begun since the last Abort
	cancel    context.CancelFunc
	leftOut   int           // open loop: arrivals within such a time
	lengths   *rand.Rand    // of prompts and answers that scatter
	cutTo     int           // the longest prompt that was requested instead of one beyond the context; 0: none
	rateSince time.Duration // open loop: when the present rate was requested; a ramp begins then
	pacerGen  int           // counts changes of the rate; an older pacer stops
	closed    bool
	changed   chan struct{} // closed when the load changes
	group     sync.WaitGroup

	ids     atomic.Int64
	retryAt map[*stream]time.Duration // streams that wait because the server refused them, until when
}

// stream is one slot: a row of the raster, one request at a time.
type stream struct {
	index int
	track *collect.Track
	busy  bool

	dialogue dialogue
}

// New makes a Pool without load.
func New(opt Options) *Pool {
	p := &Pool{opt: opt, budget: NoLimit, retryAt: map[*stream]time.Duration{}, lengths: rand.New(rand.NewPCG(opt.Seed, lengthStream)), changed: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Set changes the load. The newest of several quick changes wins. Requests that
// run go on with the lengths they began with. It returns the instant of the change.
func (p *Pool) Set(s frame.Load) (from time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from = p.now()
	if p.closed {
		return from
	}
	newRate := s.Schedule() != p.setting.Schedule() || s.Trace != p.setting.Trace
	rateChanged := newRate || s.Trace == "" && s.Arrivals != p.setting.Arrivals
	p.setting = s
	close(p.changed)
	p.changed = make(chan struct{})
	if s.Concurrency == 0 {
		p.leaveOut(len(p.waiting))
		p.waiting = nil
	}
	if newRate {
		p.rateSince = p.now()
	}
	if rateChanged {
		p.pacerGen++
		p.waiting, p.trace = nil, nil
		switch {
		case s.Rate > 0 && s.Trace != "":
			p.startTrace()
		case s.Rate > 0:
			p.startPacer()
		}
	}
	p.fill()
	return from
}

// Until is now: what the streams see is known at once.
func (p *Pool) Until(now time.Duration) time.Duration { return now }

// SetRamp spreads the beginnings of the streams that a later raise of a closed loop adds
// evenly over a time. Streams that begin together ask for their prompts together ever after:
// over the length of a request they begin as they would go on.
func (p *Pool) SetRamp(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ramp = d
}

// SetBudget allows n more requests to begin, NoLimit any number.
func (p *Pool) SetBudget(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.budget = n
	p.fill()
}

// Abort cancels everything in flight and sets the load to nothing.
func (p *Pool) Abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.stop()
	p.ctx, p.cancel = context.WithCancel(context.Background())
}

// Close cancels everything and waits until no request is left running.
func (p *Pool) Close() {
	p.mu.Lock()
	p.stop()
	p.closed = true
	p.mu.Unlock()
	p.group.Wait()
}

// stop cancels what runs, and wants nothing more. p.mu is held.
func (p *Pool) stop() {
	p.setting = p.setting.Idle()
	p.pacerGen++
	p.waiting, p.trace = nil, nil
	for _, s := range p.slots {
		if !s.busy { // the others end their conversations themselves
			s.dialogue.conversation = nil
		}
	}
	p.cancel()
}

// Retrying is how many streams wait because the server refused them, and when the first of
// them tries again.
func (p *Pool) Retrying() (n int, next time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.retryAt {
		if n++; n == 1 || at < next {
			next = at
		}
	}
	return n, next
}

// LeftOut is how many scheduled requests were not sent because the server had
// asked to wait.
func (p *Pool) LeftOut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leftOut
}

// CutTo is the length of a prompt that was drawn beyond the model's context, as it was sent; 0
// if there was none.
func (p *Pool) CutTo() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cutTo
}

// FireLong sends one request with a prompt of the given length beside the load.
func (p *Pool) FireLong(inputTokens int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	j := job{ctx: p.ctx, intent: p.now(), in: inputTokens, out: p.setting.OutputTokens, long: true}
	p.begin(true, func(s *stream) (left bool) {
		p.request(s, j)
		return false
	})
}

// fill brings the number of closed-loop workers, or of open-loop requests that
// wait under the cap, up to the setting. p.mu is held.
func (p *Pool) fill() {
	if p.closed {
		return
	}
	if p.setting.Rate > 0 {
		for len(p.waiting) > 0 && p.running < p.setting.Concurrency && p.budget != 0 && p.now() >= p.heldUntil {
			d := p.waiting[0]
			p.waiting[0], p.waiting = due{}, p.waiting[1:]
			p.began(d)
			p.startOpen(p.claim(d))
		}
		return
	}
	missing := p.setting.Concurrency - p.running
	for nth := 0; p.running < p.setting.Concurrency && p.budget != 0; nth++ {
		p.startWorker(max(stagger(nth), p.ramp*time.Duration(nth)/time.Duration(missing)))
	}
}

// freeSlot is the idle slot with the lowest number. p.mu is held.
func (p *Pool) freeSlot() *stream {
	for _, s := range p.slots {
		if !s.busy {
			s.busy = true
			return s
		}
	}
	s := &stream{index: len(p.slots), track: p.opt.NewTrack(), busy: true}
	p.slots = append(p.slots, s)
	return s
}

// begin runs f on a free slot; extra: beside the load, of which it is no part. f reports whether it
// has left the load itself. p.mu is held.
func (p *Pool) begin(extra bool, f func(*stream) (left bool)) {
	s := p.freeSlot()
	if !extra {
		p.running++
	}
	p.spawn(func() {
		left := false
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			switch {
			case extra:
				s.busy = false
				return
			case !left:
				s.busy = false
				p.running--
			}
			p.fill()
		}()
		left = f(s)
	})
}

// leave takes a worker out of the load, and ends its conversation. It must not use its slot after
// this. p.mu is held.
func (p *Pool) leave(s *stream) {
	s.busy, s.dialogue.conversation = false, nil
	p.running--
}

// spawn runs f in a goroutine that Close waits for.
func (p *Pool) spawn(f func()) {
	p.group.Add(1)
	guard.Go("load", p.opt.Fail, func() {
		defer p.group.Done()
		f()
	})
}

func (p *Pool) now() time.Duration { return time.Since(p.opt.Epoch) }
