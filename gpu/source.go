package gpu

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"sonde/probe/guard"
)

// Source keeps the newest readings of one set of GPUs.
type Source interface {
	// Run reads until the context ends; the caller starts it in a goroutine of
	// its own. A driver call that hangs cannot be cancelled: do not wait for
	// Run when the program ends.
	Run(ctx context.Context)
	// Latest never blocks. While a reading hangs, Status.At grows old.
	Latest() Status
}

// Options say where readings may come from.
type Options struct {
	Mode         string        // "auto" (or ""), "nvml" (the driver of this machine), "off", or the address of an exporter page
	TargetHost   string        // host that the endpoint runs on, without port
	Local        bool          // the endpoint is on this machine, or there is none
	EngineGPUURL string        // GPU page that the engine itself serves; in auto mode the only one then
	Client       *http.Client  // for exporter pages; it should carry no credentials; nil: a plain one
	Interval     time.Duration // between readings; 0: 1 s
}

// What Status.Why says where nothing is wrong.
const (
	Looking     = "looking for GPUs"
	SwitchedOff = "switched off with --gpu off"
)

// Open prepares a source. It reads nothing before Run and it cannot fail: what is
// wrong with the options is in Status.Why.
func Open(o Options) Source {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	s := &source{interval: o.Interval, find: finder(o), keepGone: true}
	s.latest.Store(&Status{Why: Looking})
	if s.find == nil {
		s.latest.Store(&Status{Why: SwitchedOff})
	}
	return s
}

// reader takes readings, one after the other, from one goroutine.
type reader interface {
	read(ctx context.Context) (Status, error)
	close()
}

const (
	// retryEvery is the wait after a failed discovery: looking for a driver or
	// an exporter each second would load both machines for nothing.
	retryEvery = 30 * time.Second
	// returnEvery is the wait for a source that was there and is gone.
	returnEvery = 5 * time.Second
	// maxFailures readings in a row send the source back to discovery.
	maxFailures = 5
)

type source struct {
	interval time.Duration
	find     func(context.Context) (reader, error) // nil: switched off
	keepGone bool                                  // a GPU that is no longer listed stays, as lost
	latest   atomic.Pointer[Status]
}

func (s *source) Latest() Status { return *s.latest.Load() }

func (s *source) Run(ctx context.Context) {
	for s.find != nil && ctx.Err() == nil {
		pause := retryEvery
		if s.session(ctx) {
			pause = returnEvery
		}
		wait(ctx, pause)
	}
}

// session discovers and reads until the source is lost, and tells whether there
// was one. A panic is told, not passed on: the load test goes on without a GPU
// panel.
func (s *source) session(ctx context.Context) (found bool) {
	defer guard.Catch("GPU readings", s.fail)
	r, err := s.find(ctx)
	if err != nil {
		s.fail(err)
		return s.Latest().Source != ""
	}
	defer r.close()
	s.poll(ctx, r)
	return true
}

func (s *source) poll(ctx context.Context, r reader) {
	tick := time.NewTicker(s.interval)
	defer tick.Stop()
	for failures := 0; failures < maxFailures && ctx.Err() == nil; {
		st, err := r.read(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failures++
			s.fail(err)
		default:
			failures = 0
			if s.keepGone {
				st.GPUs = withGone(s.Latest().GPUs, st.GPUs)
			}
			s.latest.Store(&st)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// fail keeps the last readings with their age and says why there are no newer ones.
func (s *source) fail(err error) {
	st := s.Latest()
	st.Why = err.Error()
	s.latest.Store(&st)
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
