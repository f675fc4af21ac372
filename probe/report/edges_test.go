package report

import (
	"runtime"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/arrivals"
	"sonde/probe/bench"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

// Three hundred streams with answers of 1001 ms: the last request of each ends
// outside a window of 10 s, and yet the server handles 300 / 1.001 a second.
// Half of the streams are too slow to be good.
func TestTheLastRequestsCountByTheirShare(t *testing.T) {
	load := frame.Load{Concurrency: 300, InputTokens: 8, OutputTokens: 2}
	var all []measure.Request
	for i := range 300 {
		ttft := []float64{50, 500}[i%2]
		for start := 0.0; start < 10000; start += 1001 {
			all = append(all, stream(start, ttft, 1001-ttft, 2))
		}
	}
	plan := bench.Plan{Load: load, Duration: 10 * time.Second, DrainFor: time.Minute, SLOs: []slo.Target{{Metric: "ttft", Quantile: 0.5, LimitMS: 100}}}
	s := summarise(plan, frames(12*time.Second, load, all, nil))
	near(t, "requests rate", s.Rates.RequestsPerS, 299.7003) // 9 whole ones and 991/1001, in 10 s, 300 times
	near(t, "rpm", s.Rates.RPM, 17982.0180)
	near(t, "goodput", s.GoodputPerS, 149.8501)
	near(t, "good share", s.GoodShare, 0.5)
	near(t, "concurrency", s.ConcurrencyMean, 300)
	near(t, "Little", s.LittleRatio, 1)
	near(t, "e2e", s.LatencyMS.E2E.P50, 1001)
	near(t, "client queue", s.LatencyMS.ClientQueue.Max, 0)
	if s.Requests.OK != 3000 {
		t.Errorf("ok %d", s.Requests.OK)
	}
}

// Requests of the warm-up have their share in the rates and in the goodput, and
// are in no count.
func TestTheWarmupReachesIntoTheWindow(t *testing.T) {
	plan := bench.Plan{Load: closed, WarmupFor: 500 * time.Millisecond, Duration: time.Second, SLOs: []slo.Target{{Metric: "ttft", Quantile: 0.5, LimitMS: 100}}}
	all := reqs(stream(0, 50, 950, 2), stream(1000, 50, 450, 2)) // 0 to 1000, 1000 to 1500 ms
	s := summarise(plan, frames(2*time.Second, closed, all, nil))
	near(t, "requests rate", s.Rates.RequestsPerS, 1.5)
	near(t, "goodput", s.GoodputPerS, 1.5)
	near(t, "good share", s.GoodShare, 1)
	if s.Requests.OK != 1 {
		t.Errorf("ok %d", s.Requests.OK)
	}
}

// A request that takes no time at all is in the window or not.
func TestARequestWithoutDuration(t *testing.T) {
	all := reqs(stream(500, 0, 0, 1), stream(1500, 0, 0, 1))
	s := summarise(bench.Plan{Load: closed, Duration: time.Second, DrainFor: time.Minute}, frames(2*time.Second, closed, all, nil))
	near(t, "requests rate", s.Rates.RequestsPerS, 1)
}

// Poisson arrivals may be fewer than asked for by chance: that is no backlog.
func TestFewArrivalsAreNoBacklog(t *testing.T) {
	load := frame.Load{Concurrency: 64, Rate: 10, Arrivals: arrivals.Poisson, InputTokens: 8, OutputTokens: 1}
	for _, c := range []struct {
		wait float64 // ms for a free stream
		want bool
	}{{1, false}, {300, true}} {
		var all []measure.Request
		for i := range 8 { // 8 of 10 in one second
			r := stream(100*float64(i), 50, 0, 1)
			r.Intent = max(0, r.Start-at(c.wait))
			all = append(all, r)
		}
		s := summarise(bench.Plan{Load: load, Duration: time.Second}, frames(2*time.Second, load, all, nil))
		near(t, "requests rate", s.Rates.RequestsPerS, 8)
		if got := noteWith(s, "8.0 of 10.0 requests per second"); got != c.want {
			t.Errorf("waits of %v ms: note %v, want %v: %q", c.wait, got, c.want, s.Notes)
		}
	}
}

// From 2 to 10 per second within 4 s: 6 on average, and 10 afterwards.
func TestARampIsJudgedByItsMeanRate(t *testing.T) {
	load := frame.Load{Concurrency: 64, Rate: 10, Ramp: arrivals.Ramp{From: 2, Over: 4 * time.Second}, InputTokens: 8, OutputTokens: 1}
	var all []measure.Request
	for i := range 24 {
		r := stream(4000/24*float64(i), 50, 0, 1)
		r.Intent = max(0, r.Start-at(300))
		all = append(all, r)
	}
	s := summarise(bench.Plan{Load: load, Duration: 4 * time.Second}, frames(5*time.Second, load, all, nil))
	if noteWith(s, "requests per second were sent") {
		t.Errorf("24 requests within the 4 s of the ramp are all: %q", s.Notes)
	}
	if r := s.Load.Ramp; r.From.V != 2 || r.To.V != 10 || r.OverS.V != 4 {
		t.Errorf("the ramp is %+v", r)
	}
	s = summarise(bench.Plan{Load: load, Duration: 4 * time.Second}, frames(5*time.Second, load, all[:12], nil))
	if !noteWith(s, "3.0 of 6.0 requests per second") {
		t.Errorf("half of the requests: %q", s.Notes)
	}
}

// What was read before the window says nothing about it, even if nothing newer
// came for a while.
func TestReadingsFromBeforeTheWindow(t *testing.T) {
	s := summarise(bench.Plan{Load: closed, Duration: 2 * time.Second}, frames(3*time.Second, closed, nil, func(f *frame.Frame) {
		f.Target.Started = epoch
		taken, n := epoch.Add(-500*time.Millisecond), 0.0
		if f.At > time.Second {
			taken, n = epoch.Add(900*time.Millisecond), 8.0
		}
		f.Engine = engine.Status{Have: true, Reading: engine.Reading{At: taken, Running: opt.Of(n), KVFill: opt.Of(n / 10)}}
		f.GPU = gpu.Status{At: taken, GPUs: []gpu.Reading{{ID: "a", Name: "A", SM: opt.Of(n / 10), Power: opt.Of(100 * n)}}}
	}))
	near(t, "running", s.Engine.RunningMean, 8)
	near(t, "KV", s.Engine.KVFillMean, 0.8)
	near(t, "SM", s.GPUs[0].SMMean, 0.8)
	near(t, "power", s.GPUs[0].PowerWMean, 800)

	only := summarise(bench.Plan{Load: closed, Duration: time.Second}, frames(2*time.Second, closed, nil, func(f *frame.Frame) {
		f.Target.Started = epoch
		f.Engine = engine.Status{Have: true, Reading: engine.Reading{At: epoch.Add(-time.Millisecond), Running: opt.Of(3)}}
		f.GPU = gpu.Status{At: epoch.Add(-time.Millisecond), GPUs: []gpu.Reading{{ID: "a", SM: opt.Of(0.5)}}}
	}))
	if only.Engine.RunningMean.OK || len(only.GPUs) != 1 || only.GPUs[0].SMMean.OK {
		t.Errorf("engine %+v, GPUs %+v", only.Engine, only.GPUs)
	}
}

// A long run takes no more memory than a short one: 1000 requests a second, of
// which the verdict's history keeps half a minute.
func TestMemoryIsBounded(t *testing.T) {
	a := newRun(bench.Plan{Load: closed, SLOs: []slo.Target{{Metric: "ttft", Quantile: 0.5, LimitMS: 100}}})
	n := 0
	feed := func(seconds int) {
		for range seconds * 4 {
			n++
			f := &frame.Frame{Seq: uint64(n), At: time.Duration(n) * tick, Slice: tick}
			f.Load.Requested = closed
			for i := range 250 {
				f.Requests = append(f.Requests, stream(ms(f.At)-20, 5+float64(i)/100, 1, 5))
			}
			a.Add(f)
		}
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	feed(35)
	before := heap()
	feed(55)
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("55 s more took %d kB", grown>>10)
	}
	if s := a.Summary(); s.Requests.OK != 90_000 || s.LatencyMS.TTFT.N != 90_000 {
		t.Errorf("counts %+v", s.Requests)
	}
}
