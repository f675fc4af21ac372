// Package watch keeps the newest readings of the GPUs that serve an endpoint: it finds
// a source, reads it every second, and looks for it again when it is gone.
package watch

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sonde/gpu"
	"sonde/gpu/exporter"
	"sonde/gpu/tool"
	"sonde/probe/guard"
	"sonde/probe/prom"
)

// Options say where readings may come from.
type Options struct {
	Mode         string        // "auto" (or ""), "nvml" (the driver of this machine), "ssh" (the target's host), ssh://…, "off", or the address of an exporter page
	TargetHost   string        // host that the endpoint runs on, without port
	Local        bool          // the endpoint is on this machine, or there is none
	EngineGPUURL string        // GPU page that the engine itself serves; in auto mode the only one then
	Client       *http.Client  // for exporter pages; it should carry no credentials; nil: a plain one
	Interval     time.Duration // between readings; 0: 1 s
}

// Open prepares a Watcher. It reads nothing before Run and it cannot fail: what is
// wrong with the options is in Status.Why.
func Open(o Options) *Watcher {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	w := newWatcher(o.Interval, finder(o))
	w.keepGone = true
	return w
}

// OpenPrometheus prepares a Watcher of the series of GPU exporters on a Prometheus
// server, of all hosts that the selector matches.
func OpenPrometheus(server *prom.Server, selector string, interval time.Duration) *Watcher {
	return newWatcher(interval, func(context.Context) (reader, error) {
		return exporter.OpenSeries(server, selector), nil
	})
}

// reader takes readings, one after the other, from one goroutine.
type reader interface {
	Read(ctx context.Context) (gpu.Status, error)
	Close()
}

const (
	// retryEvery is the wait after a failed discovery: looking for a driver or
	// an exporter each second would load both machines for nothing.
	retryEvery = 30 * time.Second
	// returnEvery is the wait for a source that was there and is gone.
	returnEvery = 5 * time.Second
	// maxFailures readings in a row send the Watcher back to discovery.
	maxFailures = 5
)

// Watcher keeps the newest readings of one set of GPUs.
type Watcher struct {
	interval time.Duration
	find     func(context.Context) (reader, error) // nil: switched off
	keepGone bool                                  // a GPU that is no longer listed stays, as lost
	latest   atomic.Pointer[gpu.Status]
}

func newWatcher(interval time.Duration, find func(context.Context) (reader, error)) *Watcher {
	w := &Watcher{interval: interval, find: find}
	w.latest.Store(&gpu.Status{State: gpu.Looking})
	if find == nil {
		w.latest.Store(&gpu.Status{State: gpu.Off})
	}
	return w
}

// Latest never blocks. While a reading hangs, Status.At grows old.
func (w *Watcher) Latest() gpu.Status { return *w.latest.Load() }

// Run reads until the context ends; the caller starts it in a goroutine of its own. A
// driver call that hangs cannot be cancelled: do not wait for Run when the program ends.
func (w *Watcher) Run(ctx context.Context) {
	for w.find != nil && ctx.Err() == nil {
		wait(ctx, w.session(ctx))
	}
}

// session discovers and reads until the source is lost, and returns the pause before the next
// discovery. A panic becomes a reason, not a crash: the load test goes on without GPUs.
func (w *Watcher) session(ctx context.Context) (pause time.Duration) {
	pause = retryEvery
	defer guard.Catch("GPU readings", w.fail)
	r, err := w.find(ctx)
	if err != nil {
		w.fail(err)
		if w.Latest().Source != "" {
			pause = returnEvery
		}
		if later := (*delayed)(nil); errors.As(err, &later) {
			pause = max(pause, later.pause)
		}
		return pause
	}
	defer r.Close()
	w.poll(ctx, r)
	return returnEvery
}

func (w *Watcher) poll(ctx context.Context, r reader) {
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	for failures := 0; failures < maxFailures && ctx.Err() == nil; {
		st, err := r.Read(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, tool.ErrGone):
			w.fail(err)
			return
		case err != nil:
			failures++
			w.fail(err)
		default:
			failures = 0
			st.GPUs = gpu.Checked(st.GPUs)
			if w.keepGone {
				st.GPUs = withGone(w.Latest().GPUs, st.GPUs)
			}
			w.latest.Store(&st)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// fail keeps the last readings with their age and says why there are no newer ones.
func (w *Watcher) fail(err error) {
	st := w.Latest()
	st.State, st.Why = gpu.Tried, err.Error()
	w.latest.Store(&st)
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// withGone adds the GPUs that were there before and are no longer listed: an operator
// has to see one that vanished silently. Parts of a GPU come and go when it is split
// again, and an ID made of a number (host/0) may be replaced by the GPU's own: those
// are dropped.
func withGone(before, now []gpu.Reading) []gpu.Reading {
	listed := make(map[string]bool, len(now))
	for i := range now {
		listed[now[i].ID] = true
	}
	for _, r := range before {
		if r.Parent != "" || r.ID == "" || strings.Contains(r.ID, "/") || listed[r.ID] {
			continue
		}
		// Clipped: what was published before may share what lies behind the list.
		now = append(slices.Clip(now), gpu.Reading{
			ID: r.ID, Index: r.Index, Name: r.Name, Source: r.Source, Lost: true, Note: "GPU lost: no longer listed",
		})
	}
	return now
}
