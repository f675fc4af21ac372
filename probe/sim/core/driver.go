package core

import (
	"context"
	"slices"
	"sync"
	"time"

	"sonde/probe/guard"
)

// Driver runs an engine in real time. One goroutine plans an iteration, waits
// for its end and hands out its tokens; requests come and go under the lock at
// any moment in between.
type Driver struct {
	began time.Time
	timer *time.Timer   // of the goroutine that runs the engine
	kick  chan struct{} // there may be something to do
	Ended chan struct{} // closed when the driver stops

	mu       sync.Mutex // guards what follows
	engine   *engine
	activity activityLog
	prefill  activityLog // of the prefill pool
	running  bool
	err      error // why the driver stopped; nil if its context ended

	observe Observer
}

// Observer sees what the engine does, for its metrics.
type Observer interface {
	Iteration(Iteration)
	Tokens([]Output)
}

// maxLag bounds how far the schedule may run behind the clock. Ordinary lateness
// of timers stays below it. When the process was starved or stopped, the engine
// continues from now: a real one would not catch up in a burst.
const maxLag = 5 * time.Millisecond

// NewDriver makes an engine that o observes.
func NewDriver(s Setup, o Observer) *Driver {
	return &Driver{
		began: time.Now(), timer: time.NewTimer(0), engine: newEngine(s), observe: o,
		kick: make(chan struct{}, 1), Ended: make(chan struct{}),
	}
}

// Now is the engine's clock.
func (d *Driver) Now() time.Duration { return time.Since(d.began) }

// Start runs the engine until ctx ends. It is called once.
func (d *Driver) Start(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = true
	guard.Go("embedded engine", d.Stop, func() {
		d.run(ctx)
		d.Stop(nil)
	})
}

// Stop ends a running driver and releases everyone who waits for tokens.
func (d *Driver) Stop(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running {
		d.running, d.err = false, err
		close(d.Ended)
	}
}

// Submit accepts a request; false if the engine is not running.
func (d *Driver) Submit(s *Sequence) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.running {
		return false
	}
	d.engine.submit(s, d.Now())
	d.wake()
	return true
}

func (d *Driver) wake() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// Abort removes a request. After the end of the request it does nothing.
func (d *Driver) Abort(s *Sequence) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.engine.abort(s)
}

// run paces the engine. While there is work, an iteration starts at the planned
// end of the one before, not when our timer woke up: lateness does not add up.
func (d *Driver) run(ctx context.Context) {
	at := d.Now()
	for ctx.Err() == nil {
		it, ok := d.begin(at)
		if !ok {
			at = d.idle(ctx)
			continue
		}
		if !d.pause(ctx, it.End, nil) {
			return
		}
		d.finish(it)
		if at = it.End; d.Now()-at > maxLag {
			at = d.Now()
		}
	}
}

// idle waits until there may be something to do, and returns when the next iteration
// may start.
func (d *Driver) idle(ctx context.Context) time.Duration {
	d.mu.Lock()
	next, ok := d.engine.next()
	d.mu.Unlock()
	if ok {
		if !d.pause(ctx, next, d.kick) || d.Now()-next > maxLag {
			return d.Now()
		}
		return next
	}
	select {
	case <-d.kick:
	case <-ctx.Done():
	}
	return d.Now()
}

func (d *Driver) begin(at time.Duration) (Iteration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	it, ok := d.engine.begin(at)
	if ok {
		d.activity.add(it, &d.engine.gpu)
		d.observe.Iteration(it)
	}
	for _, p := range d.engine.prefills() {
		d.prefill.add(p, &d.engine.gpu)
		d.observe.Iteration(p)
	}
	return it, ok
}

// finish hands the iteration's tokens to their readers, all at the same moment.
func (d *Driver) finish(it Iteration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.engine.finish(it.End)
	for _, y := range all {
		y.Seq.Sink(y.words, y.End)
	}
	d.observe.Tokens(all)
}

// Snapshot is the engine's state at one moment.
type Snapshot struct {
	Running, Waiting int
	KVUsage          float64
	Stats            Stats
	GPUs             []GPUState // those that only read prompts last
}

// Snapshot returns the state of now.
func (d *Driver) Snapshot() Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := Snapshot{KVUsage: d.engine.kv.usage(), Stats: d.engine.stats.clone()}
	s.Running, s.Waiting = d.engine.counts()
	now, n := d.Now(), d.engine.Machine.GPUs // which do the same at the same time
	s.GPUs = slices.Repeat([]GPUState{d.activity.state(now, d.engine)}, n)
	if d.engine.pool != nil {
		s.GPUs = append(s.GPUs, slices.Repeat([]GPUState{d.prefill.state(now, d.engine)}, n)...)
	}
	return s
}

// Failure is the error that stopped the engine, nil if there was none.
func (d *Driver) Failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// IsRunning reports whether the engine has started and not ended.
func (d *Driver) IsRunning() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running
}

// timerGrain is how late a timer of the Go runtime may be on Linux, where its
// poller counts whole milliseconds.
const timerGrain = 1500 * time.Microsecond

// pause waits until the engine's clock shows end; false if ctx ended or kick received
// something before. The runtime's timer does the long part, the system's finer one the
// rest: gaps of 10 ms should not vary by one.
func (d *Driver) pause(ctx context.Context, end time.Duration, kick <-chan struct{}) bool {
	grain := timerGrain
	if d.engine.VirtualTime {
		grain = 0
	}
	d.timer.Reset(end - grain - d.Now())
	select {
	case <-d.timer.C:
	case <-kick:
		return false
	case <-ctx.Done():
		return false
	}
	fineSleep(end - d.Now())
	time.Sleep(end - d.Now()) // what is left if the fine sleep was interrupted
	return true
}
