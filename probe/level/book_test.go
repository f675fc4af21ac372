package level

import (
	"math"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

const tick = 250 * time.Millisecond

// film makes Frames by hand.
type film struct {
	at     time.Duration
	load   frame.Load
	level  int
	settle bool
}

// next is the Frame of the next tick.
func (m *film) next() *frame.Frame {
	m.at += tick
	f := &frame.Frame{At: m.at, Slice: tick}
	f.Load.Requested, f.Load.Level, f.Load.Settled = m.load, m.level, m.settle
	f.Client.InFlight = m.load.Concurrency
	return f
}

// turn changes the load at the beginning of the next slice.
func (m *film) turn(streams int) {
	m.load.Concurrency, m.settle = streams, false
	m.level++
}

// request lasts from start on, its first token after ttft, with 10 more tokens at even gaps.
func request(start, ttft, e2e time.Duration) measure.Request {
	r := measure.Request{
		Intent: start, Start: start, First: start + ttft, Last: start + e2e, End: start + e2e, Streamed: true, Reused: true,
		Chunks: 11, FirstTokens: 1, InTokens: 20, OutTokens: 11, Source: measure.Usage, Finish: "stop",
	}
	for range 10 {
		r.GapsMS = append(r.GapsMS, float32((e2e-ttft).Seconds()*100))
	}
	return r
}

// 99 requests of 1 s and one of 101 s: the mean is (99 + 101)/100 = 2 s, the middle one 1 s. The 99th
// percentile lies at position 0.99·99 = 98.01, a hundredth of the way from 1 s to 101 s: 2 s.
func TestOneLongRequestAmongAHundred(t *testing.T) {
	m := &film{}
	l := NewBook([]slo.Target{{Text: "e2e_p99=2s", Metric: "e2e", Quantile: 0.99, LimitMS: 2000}, {Text: "e2e_p50=1s", Metric: "e2e", Quantile: 0.5, LimitMS: 1000}})
	m.turn(4)
	m.settle = true
	l.Add(m.next())
	f := m.next()
	for range 99 {
		f.Requests = append(f.Requests, request(m.at-100*time.Millisecond, 100*time.Millisecond, time.Second))
	}
	f.Requests = append(f.Requests, request(m.at-100*time.Millisecond, 100*time.Millisecond, 101*time.Second))
	l.Add(f)
	r := l.Levels()[0]
	if e := r.E2E; e.N != 100 || e.Mean != 2000 || e.P50 != 1000 || math.Abs(e.P99-2000) > 1e-6 || e.Max != 101_000 || e.P95 != 1000 {
		t.Errorf("%+v", e)
	}
	p99, p50 := r.SLOs[0], r.SLOs[1]
	// 1 of 100 beyond with 1 % allowed: met as it is, and proves little: P(≤ 1) = 0.736.
	if p99.Verdict != slo.SeemsMeets || math.Abs(p99.Confidence.V-(1-0.7357620)) > 1e-6 || p99.Over != 1 {
		t.Errorf("%+v", p99)
	}
	if p50.Verdict != slo.Meets || r.GoodShare != opt.Of(0.99) {
		t.Errorf("%+v, good %v", p50, r.GoodShare)
	}
}

// Two seconds at 4 streams after settling, with 8 tokens arriving in each tick, and engine and GPU
// told; then two seconds at 8. What spans a change or began before the level had settled is in
// no row.
func TestRowsByHand(t *testing.T) {
	m := &film{}
	l := NewBook(nil)
	m.turn(4)
	l.Add(m.next()) // 0.25 s
	early := request(100*time.Millisecond, 50*time.Millisecond, 600*time.Millisecond)
	m.settle = true
	l.Add(m.next()) // 0.5 s: settled from here
	for i := range 8 {
		f := m.next()
		f.Client.SliceOutTokens = 8
		f.Engine = engine.Status{Have: true, Reading: engine.Reading{Running: opt.Of(3), Waiting: opt.Of(float64(i % 2)), KVFill: opt.Of(0.5), Preemptions: opt.Of(float64(i))}}
		f.Engine.Reading.At = time.Unix(100, 0).Add(m.at)
		f.Target.Started = time.Unix(100, 0)
		f.GPU = gpu.Status{At: time.Unix(100, 0).Add(m.at), GPUs: []gpu.Reading{{SM: opt.Of(0.9), DRAM: opt.Of(0.4)}, {SM: opt.Of(0.7)}}}
		switch i {
		case 0:
			f.Requests = append(f.Requests, early)
		case 4:
			f.Requests = append(f.Requests, request(600*time.Millisecond, 100*time.Millisecond, 1100*time.Millisecond),
				measure.Request{Class: measure.RateLimited, Intent: m.at - time.Millisecond, Start: m.at - time.Millisecond, End: m.at},
				measure.Request{Class: measure.Cancelled, Intent: m.at - time.Millisecond, Start: m.at - time.Millisecond, End: m.at})
		}
		l.Add(f)
	}
	m.turn(8)
	f := m.next()                                                                                      // the change was at 2.5 s
	f.Requests = append(f.Requests, request(time.Second, 100*time.Millisecond, 1400*time.Millisecond), // ended at 2.4 s, before the change
		request(time.Second, 100*time.Millisecond, 1600*time.Millisecond)) // spans it
	l.Add(f)
	rows := l.Levels()
	if len(rows) != 2 || rows[1].Load.Concurrency != 8 || rows[1].OK != 0 || rows[1].Settled {
		t.Fatalf("%+v", rows)
	}
	r := rows[0]
	if r.OK != 2 || r.Failed != 1 || r.Refused() != 1 || r.TTFT.N != 2 || r.TTFT.P50 != 100 || !r.Settled || r.Held != 2*time.Second {
		t.Errorf("%+v", r)
	}
	// 64 tokens in 2 s at one chunk a token; 11 tokens a request.
	if r.OutTokensPerS.V != 32 || math.Abs(r.RequestsPerS.V-32.0/11) > 1e-9 || math.Abs(r.InTokensPerS.V-20*32.0/11) > 1e-9 ||
		math.Abs(r.RPM().V-60*32.0/11) > 1e-9 || math.Abs(r.TPM().V-60*(32+20*32.0/11)) > 1e-6 {
		t.Errorf("rates %v %v %v", r.OutTokensPerS, r.RequestsPerS, r.InTokensPerS)
	}
	if r.Engine.Running.V != 3 || r.Engine.Waiting.V != 0.5 || r.Engine.WaitingMax.V != 1 || r.Engine.KV.V != 0.5 || r.Engine.Preemptions.V != 7 || r.SM.V != 0.8 || r.DRAM.V != 0.4 || r.Tensor.OK {
		t.Errorf("engine and GPU: %+v", r)
	}
	if r.ErrorShare().V != 1.0/3 || r.InFlight.V != 4 {
		t.Errorf("errors %v, in flight %v", r.ErrorShare(), r.InFlight)
	}
}

// Another visit adds to the row, or replaces it; one that does not settle leaves settled figures alone.
func TestAnotherVisit(t *testing.T) {
	for _, c := range []struct {
		replace, settles bool
		n, visits        int
	}{{false, true, 3, 2}, {true, true, 2, 1}, {false, false, 1, 1}} {
		m := &film{}
		l := NewBook(nil)
		l.Replace(c.replace)
		visit := func(streams, requests int, settles bool) {
			m.turn(streams)
			l.Add(m.next())
			m.settle = settles
			l.Add(m.next())
			for range requests {
				f := m.next()
				f.Requests = append(f.Requests, request(m.at-tick+time.Millisecond, 10*time.Millisecond, 100*time.Millisecond))
				l.Add(f)
			}
		}
		visit(4, 1, true)
		visit(8, 1, true)
		visit(4, 2, c.settles)
		for _, when := range []string{"while it goes on", "after it"} {
			rows := l.Levels()
			i := 0
			if c.replace {
				i = 1 // it is first held now
			}
			if len(rows) < 2 || rows[i].Load.Concurrency != 4 || rows[i].OK != c.n || rows[i].Visits != c.visits {
				t.Errorf("replace %v, settles %v, %s: %+v", c.replace, c.settles, when, rows)
			}
			visit(16, 1, true)
		}
	}
}

func TestResetForgetsThePresentLevelOnly(t *testing.T) {
	m := &film{}
	l := NewBook(nil)
	m.turn(4)
	m.settle = true
	l.Add(m.next())
	f := m.next()
	f.Requests = append(f.Requests, request(m.at-tick, 10*time.Millisecond, 100*time.Millisecond))
	l.Add(f)
	m.turn(8)
	l.Add(m.next())
	m.settle = true
	l.Add(m.next())
	f = m.next()
	f.Requests = append(f.Requests, request(m.at-tick, 10*time.Millisecond, 100*time.Millisecond))
	l.Add(f)
	f = m.next()
	f.Events = []frame.Event{{Kind: frame.EventReset, At: m.at}}
	l.Add(f)
	rows := l.Levels()
	if len(rows) != 2 || rows[0].OK != 1 || rows[1].OK != 0 || !rows[1].Settled {
		t.Errorf("%+v", rows)
	}
}

// A level that is left at the very moment at which it settles keeps what it had shown until then.
func TestSettledAtTheVeryEnd(t *testing.T) {
	m := &film{}
	l := NewBook(nil)
	m.turn(4)
	l.Add(m.next())
	f := m.next()
	f.Requests = append(f.Requests, request(m.at-tick, 10*time.Millisecond, 100*time.Millisecond))
	l.Add(f)
	m.settle = true
	l.Add(m.next())
	m.turn(8)
	l.Add(m.next())
	if rows := l.Levels(); len(rows) != 2 || rows[0].OK != 1 || rows[0].Settled {
		t.Errorf("%+v", rows)
	}
}

// With other SLOs the levels begin anew: a request of 300 ms to its first token, of which one has
// ended before and two end after, meets the first SLO and misses the second.
func TestOtherSLOs(t *testing.T) {
	m := &film{}
	target := func(ms float64) []slo.Target { return []slo.Target{{Metric: "ttft", Quantile: 0.5, LimitMS: ms}} }
	l := NewBook(target(400))
	m.turn(1)
	m.settle = true
	for i := range 20 {
		f := m.next()
		if i%6 == 5 { // Frames 6, 12 and 18
			f.Requests = []measure.Request{request(m.at-500*time.Millisecond, 300*time.Millisecond, 500*time.Millisecond)}
		}
		l.Add(f)
		if i == 7 {
			if r := l.Levels()[0].SLOs[0]; r.Over != 0 || r.N != 1 {
				t.Errorf("before: %d of %d are over", r.Over, r.N)
			}
			l.SetSLOs(target(200))
			if len(l.Levels()) != 0 {
				t.Error("a level that was judged by other SLOs stays")
			}
		}
	}
	rows := l.Levels()
	if len(rows) != 1 || rows[0].OK != 2 || rows[0].SLOs[0].Over != 2 || rows[0].SLOs[0].Target.LimitMS != 200 {
		t.Errorf("%d levels, %+v", len(rows), rows)
	}
}
