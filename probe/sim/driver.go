package sim

import (
	"context"
	"sync"
	"time"

	"sonde/probe/guard"
)

// driver runs the core in real time. One goroutine plans an iteration, waits
// for its end and hands out its tokens; requests come and go under the lock at
// any moment in between.
type driver struct {
	began time.Time
	timer *time.Timer   // of the goroutine that runs the core
	kick  chan struct{} // there may be something to do
	ended chan struct{} // closed when the driver stops

	mu       sync.Mutex // guards what follows
	core     *core
	activity activityLog
	prefill  activityLog // of the prefill pool
	state    driverState
	err      error // why the driver stopped; nil if it was asked to

	observe observer
}

type driverState int

const (
	driverIdle driverState = iota // not started yet
	driverRunning
	driverStopped
)

// observer sees what the engine does, for its metrics.
type observer interface {
	iteration(iteration)
	tokens([]yield)
}

// maxLag bounds how far the schedule may run behind the clock. Ordinary lateness
// of timers stays below it. When the process was starved or stopped, the engine
// goes on from now: no real one would make up for it in a burst.
const maxLag = 5 * time.Millisecond

func newDriver(c *core, o observer) *driver {
	return &driver{
		began: time.Now(), timer: time.NewTimer(0), core: c, observe: o,
		kick: make(chan struct{}, 1), ended: make(chan struct{}),
	}
}

// Now is the engine's clock.
func (d *driver) Now() time.Duration { return time.Since(d.began) }

// start runs the engine until ctx ends. A second call does nothing.
func (d *driver) start(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state != driverIdle {
		return
	}
	d.state = driverRunning
	guard.Go("embedded engine", d.stop, func() {
		d.run(ctx)
		d.stop(nil)
	})
}

// stop notes the end of the driver and lets go everybody who waits for tokens. Only
// the first call counts.
func (d *driver) stop(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == driverStopped {
		return
	}
	d.state, d.err = driverStopped, err
	close(d.ended)
}

// submit takes a request in; false if the engine is not running.
func (d *driver) submit(s *sequence) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state != driverRunning {
		return false
	}
	d.core.submit(s, d.Now())
	d.wake()
	return true
}

func (d *driver) wake() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

func (d *driver) abort(s *sequence) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.abort(s)
}

// run paces the core. While there is work, an iteration starts at the planned
// end of the one before, not when our timer woke up: lateness does not add up.
func (d *driver) run(ctx context.Context) {
	at := d.Now()
	for ctx.Err() == nil {
		it, ok := d.begin(at)
		if !ok {
			at = d.idle(ctx)
			continue
		}
		if !d.pause(ctx, it.end, nil) {
			return
		}
		d.finish(it)
		if at = it.end; d.Now()-at > maxLag {
			at = d.Now()
		}
	}
}

// idle waits until there may be something to do, and says from when on.
func (d *driver) idle(ctx context.Context) time.Duration {
	d.mu.Lock()
	next, ok := d.core.next()
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

func (d *driver) begin(at time.Duration) (iteration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	it, ok := d.core.begin(at)
	if ok {
		d.activity.add(it, &d.core.gpu)
		d.observe.iteration(it)
	}
	for _, p := range d.core.prefills() {
		d.prefill.add(p, &d.core.gpu)
		d.observe.iteration(p)
	}
	return it, ok
}

// finish hands the iteration's tokens to their readers, all at the same moment.
func (d *driver) finish(it iteration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.core.finish(it.end)
	for _, y := range all {
		y.seq.sink(y.words, y.end)
	}
	d.observe.tokens(all)
}

// snapshot is the engine's state at one moment.
type snapshot struct {
	running, waiting int
	kvUsage          float64
	gpu              machine // under the faults of the moment
	stats            stats
	activity         activity
	joules           float64 // energy used by one GPU

	// Of the GPUs that only read prompts, in a disaggregated engine.
	prefill       activity
	prefillJoules float64
}

func (d *driver) snapshot() snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Now()
	s := snapshot{
		kvUsage: d.core.kv.usage(), stats: d.core.stats.clone(), activity: d.activity.mean(now),
		joules: d.activity.energy(now, &d.core.gpu), gpu: d.core.gpu,
	}
	s.running, s.waiting = d.core.counts()
	if d.core.pool != nil {
		s.prefill, s.prefillJoules = d.prefill.mean(now), d.prefill.energy(now, &d.core.gpu)
	}
	return s
}

// failure is why the engine stopped by itself, nil if it did not.
func (d *driver) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *driver) isRunning() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state == driverRunning
}

// timerGrain is how late a timer of the Go runtime may be on Linux, where its
// poller counts whole milliseconds.
const timerGrain = 1500 * time.Microsecond

// pause waits until the engine's clock shows end; false if ctx ended or something came
// in through kick before. The runtime's timer does the long part, the system's finer
// one the rest: gaps of 10 ms should not wobble by one.
func (d *driver) pause(ctx context.Context, end time.Duration, kick <-chan struct{}) bool {
	grain := timerGrain
	if d.core.VirtualTime {
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
