package load

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/api"
	"sonde/probe/arrivals"
	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/measure"
	"sonde/probe/prompt"
)

// fakeServer answers every request after a fixed time, in the bubble's time.
type fakeServer struct {
	epoch   time.Time
	service time.Duration
	reply   func(n int) api.Result // by number of the request, from 1; nil = success
	prompts prompt.Source          // nil = synthetic ones

	mu       sync.Mutex
	begun    []time.Duration
	calls    []api.Call // messages are copied
	running  int
	peak     int
	canceled int
}

func (f *fakeServer) Do(ctx context.Context, call api.Call, _ api.Observer) api.Result {
	f.mu.Lock()
	start := time.Since(f.epoch)
	f.begun = append(f.begun, start)
	call.Messages = slices.Clone(call.Messages)
	f.calls = append(f.calls, call)
	n := len(f.begun)
	f.running++
	f.peak = max(f.peak, f.running)
	f.mu.Unlock()
	res := api.Result{}
	if f.reply != nil {
		res = f.reply(n)
	}
	if res.Class == measure.OK && !sleepUntil(ctx, f.service) {
		res.Class = measure.Cancelled
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	if res.Class == measure.Cancelled {
		f.canceled++
	}
	res.Start, res.Last, res.End, res.Chunks = start, time.Since(f.epoch), time.Since(f.epoch), 1
	return res
}

func (f *fakeServer) counts() (begun, running, peak, canceled int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.begun), f.running, f.peak, f.canceled
}

// bubble runs f in virtual time with a pool on the fake server, and gives back
// what the requests' records say.
func bubble(t *testing.T, server *fakeServer, f func(p *Pool)) []measure.Request {
	t.Helper()
	var records []measure.Request
	synctest.Test(t, func(t *testing.T) {
		server.epoch = time.Now()
		collector := collect.NewCollector(func() (int, time.Duration) { return 0, 0 })
		prompts := server.prompts
		if prompts == nil {
			prompts = prompt.NewSynthetic(prompt.Unique, 1)
		}
		p := New(Options{
			Doer: server, Prompts: prompts, NewTrack: collector.NewTrack, Epoch: server.epoch,
			Fail: func(err error) { t.Error(err) },
		})
		f(p)
		p.Close()
		records = collector.Tick(time.Since(server.epoch), false).Requests
	})
	slices.SortFunc(records, func(a, b measure.Request) int { return int(a.Intent - b.Intent) })
	return records
}

func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestClosedLoopHoldsItsConcurrency(t *testing.T) {
	s := &fakeServer{service: time.Second}
	bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 300, InputTokens: 1, OutputTokens: 1})
		after(staggerBy / 2)
		if begun, _, _, _ := s.counts(); begun != togetherAtMost {
			t.Errorf("%d begun at once, want %d", begun, togetherAtMost)
		}
		// The last of them begins 284·0.5 ms later; from then on a second's requests
		// are 300.
		after(time.Second)
		before, running, peak, _ := s.counts()
		after(10 * time.Second)
		if begun, _, _, _ := s.counts(); begun-before != 3000 || running != 300 || peak != 300 {
			t.Errorf("%d begun in 10 s, %d running, peak %d; want 3000, 300, 300", begun-before, running, peak)
		}
	})
}

func TestLoweringDrains(t *testing.T) {
	s := &fakeServer{service: time.Second}
	bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 8})
		after(500 * time.Millisecond)
		p.Set(frame.Load{Concurrency: 3})
		after(100 * time.Millisecond)
		if _, running, _, canceled := s.counts(); running != 8 || canceled != 0 {
			t.Errorf("%d running, %d cancelled right after; want 8, 0", running, canceled)
		}
		after(time.Second)
		if _, running, _, canceled := s.counts(); running != 3 || canceled != 0 {
			t.Errorf("%d running, %d cancelled a second later; want 3, 0", running, canceled)
		}
		p.Set(frame.Load{Concurrency: 5})
		after(time.Millisecond)
		if _, running, _, _ := s.counts(); running != 5 {
			t.Errorf("%d running after raising, want 5 at once", running)
		}
	})
}

func TestLastOfQuickChangesWins(t *testing.T) {
	s := &fakeServer{service: time.Second}
	bubble(t, s, func(p *Pool) {
		for n := range 10 {
			p.Set(frame.Load{Concurrency: n})
		}
		p.Set(frame.Load{Concurrency: 2})
		after(3 * time.Second)
		if _, running, _, _ := s.counts(); running != 2 {
			t.Errorf("%d running, want 2", running)
		}
	})
}

func TestAbortCancelsEverything(t *testing.T) {
	s := &fakeServer{service: time.Hour}
	bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 8})
		after(time.Second)
		p.Abort()
		after(0)
		if _, running, _, canceled := s.counts(); running != 0 || canceled != 8 {
			t.Errorf("%d running, %d cancelled; want 0, 8", running, canceled)
		}
		p.Set(frame.Load{Concurrency: 1})
		after(0)
		if _, running, _, _ := s.counts(); running != 1 {
			t.Errorf("%d running after going on, want 1", running)
		}
	})
}

func TestBudgetEndsExactly(t *testing.T) {
	for _, setting := range []frame.Load{{Concurrency: 3}, {Concurrency: 3, Rate: 50}} {
		s := &fakeServer{service: 100 * time.Millisecond}
		bubble(t, s, func(p *Pool) {
			p.SetBudget(7)
			p.Set(setting)
			after(time.Minute)
			if begun, running, _, _ := s.counts(); begun != 7 || running != 0 {
				t.Errorf("rate %v: %d begun, %d running; want 7, 0", setting.Rate, begun, running)
			}
			p.SetBudget(2)
			after(time.Minute)
			if begun, _, _, _ := s.counts(); begun != 9 {
				t.Errorf("rate %v: %d begun after 2 more, want 9", setting.Rate, begun)
			}
		})
	}
}

// Rate 10/s, 8 requests, cap 1, service 500 ms: the k-th request is due at
// k·100 ms and ends at (k+1)·500 ms, so from the schedule it takes 500, 900 …
// 3300 ms: mean 1900.
func TestOpenLoopCountsFromTheSchedule(t *testing.T) {
	s := &fakeServer{service: 500 * time.Millisecond}
	records := bubble(t, s, func(p *Pool) {
		p.SetBudget(8)
		p.Set(frame.Load{Concurrency: 1, Rate: 10})
		after(10 * time.Second)
	})
	if len(records) != 8 {
		t.Fatalf("%d records", len(records))
	}
	d := measure.NewDist(100)
	for k, r := range records {
		ms, _ := r.FromSchedule()
		d.Add(ms)
		if want := float64(500 + 400*k); ms != want {
			t.Errorf("request %d: %v ms from the schedule, want %v", k, ms, want)
		}
		if want := float64(400 * k); r.ClientQueue() != want {
			t.Errorf("request %d: waited %v ms for a slot, want %v", k, r.ClientQueue(), want)
		}
	}
	if sum := d.Summary(); sum.Mean != 1900 || sum.P50 != 1900 || sum.P99 != 3272 {
		t.Errorf("mean %v, p50 %v, p99 %v; want 1900, 1900, 3272", sum.Mean, sum.P50, sum.P99)
	}
}

// 51 constant arrivals until 5.05 s, then those of a gamma process from there on.
func TestNewArrivalsGoOnFromNow(t *testing.T) {
	const change = 5050 * time.Millisecond
	s := &fakeServer{service: time.Millisecond}
	records := bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 1000, Rate: 10})
		after(change)
		p.Set(frame.Load{Concurrency: 1000, Rate: 10, Arrivals: arrivals.Process{CV: 2}})
		after(20 * time.Second)
	})
	if len(records) < 100 {
		t.Fatalf("%d records", len(records))
	}
	for k, r := range records[:51] {
		if r.Intent != time.Duration(k)*100*time.Millisecond {
			t.Errorf("constant arrival %d came at %s", k, r.Intent)
		}
	}
	want := newPacer(0, change, arrivals.Rate{To: 10}, arrivals.Process{CV: 2}, rand.New(rand.NewPCG(0, pacerStream)))
	for k, r := range records[51:] {
		if at := want.next().At; r.Intent != at {
			t.Fatalf("arrival %d of the burst came at %s, want %s", k, r.Intent, at)
		}
	}
}

// A ramp from 1 to 5 per second within 10 s has had 10 arrivals at half-time. It goes on through
// a change of the arrivals, and ends where it was to end: with 30 arrivals after 10 s, then 5 a second.
func TestARampGoesOnThroughOtherChanges(t *testing.T) {
	s := &fakeServer{service: time.Millisecond}
	ramp := frame.Load{Concurrency: 1000, Rate: 5, Ramp: arrivals.Ramp{From: 1, Over: 10 * time.Second}}
	records := bubble(t, s, func(p *Pool) {
		p.Set(ramp)
		after(5*time.Second + time.Millisecond)
		if n, _, _, _ := s.counts(); n != 11 { // the first at once, the tenth after it at 5 s
			t.Errorf("%d begun in the first half, want 11", n)
		}
		if now, _ := p.Outlook(); math.Abs(now-3.0004) > 1e-9 {
			t.Errorf("%v per second after 5.001 s, want 3.0004", now)
		}
		ramp.Concurrency, ramp.Arrivals = 500, arrivals.Process{CV: 0.001} // as good as constant
		p.Set(ramp)
		after(15 * time.Second)
		if now, _ := p.Outlook(); now != 0 {
			t.Errorf("%v per second after the ramp, want 0: the rate no longer moves", now)
		}
	})
	if n := len(records); n < 79 || n > 81 {
		t.Errorf("%d requests in 20 s, want 30 and 50", n)
	}
}

func TestOpenLoopWaitsAsTold(t *testing.T) {
	s := &fakeServer{service: 10 * time.Millisecond}
	s.reply = func(n int) api.Result {
		if n == 3 {
			return api.Result{Request: measure.Request{Class: measure.RateLimited, RetryAfter: time.Second}}
		}
		return api.Result{}
	}
	left := 0
	records := bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 4, Rate: 20})
		after(3 * time.Second)
		left = p.LeftOut()
	})
	if wait := s.begun[3] - s.begun[2]; wait < time.Second || wait > 1100*time.Millisecond {
		t.Errorf("the request after the refusal came %v later, want the second that was asked for", wait)
	}
	for i, r := range records {
		if r.ClientQueue() > 60 { // at most one was due before the refusal came back
			t.Errorf("request %d waited %v ms: a burst of our own making", i, r.ClientQueue())
		}
	}
	// 20 requests in the second that was asked for, the one at its end included or not.
	if left < 19 || left > 21 {
		t.Errorf("%d requests were left out, want 20", left)
	}
}

func TestOpenLoopStopsWithoutDebts(t *testing.T) {
	s := &fakeServer{service: 100 * time.Millisecond}
	bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 30, Rate: 2})
		after(5*time.Second + time.Millisecond)
		p.Set(frame.Load{Concurrency: 0, Rate: 2})
		after(8 * time.Second)
		before, running, _, _ := s.counts()
		if before != 11 || running != 0 {
			t.Errorf("%d begun, %d running while stopped; want 11, 0", before, running)
		}
		p.Set(frame.Load{Concurrency: 30, Rate: 2})
		after(time.Second)
		if begun, _, peak, _ := s.counts(); begun-before != 2 || peak != 1 {
			t.Errorf("%d begun in the second after going on, peak %d; want 2, 1", begun-before, peak)
		}
	})
}

func TestRefusedWorkersWait(t *testing.T) {
	s := &fakeServer{service: 100 * time.Millisecond}
	s.reply = func(n int) api.Result {
		if n%3 == 0 {
			return api.Result{Request: measure.Request{Class: measure.RateLimited, RetryAfter: 2 * time.Second}}
		}
		return api.Result{}
	}
	bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 1})
		after(250 * time.Millisecond)
		// The third answer comes at 300 ms.
		if n, next := p.Retrying(); n != 1 || next != 2200*time.Millisecond {
			t.Errorf("%d workers wait until %v, want 1 until 2.2 s", n, next)
		}
		after(9 * time.Second)
	})
	// Two successes, a refusal and its wait: 2.2 s.
	for i := 3; i < len(s.begun); i += 3 {
		if wait := s.begun[i] - s.begun[i-1]; wait != 2*time.Second {
			t.Errorf("request %d came %v after the refusal, want 2 s", i, wait)
		}
	}
}

func TestFailingServerSeesNoStorm(t *testing.T) {
	s := &fakeServer{reply: func(int) api.Result { return api.Result{Request: measure.Request{Class: measure.Connect}} }}
	bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 1})
		after(time.Minute)
	})
	// After 0.1, 0.2, 0.4 and 0.8 s, then every second.
	if n := len(s.begun); n != 5+58 {
		t.Errorf("%d tries in a minute, want 63", n)
	}
}

func TestLongPromptGoesBeside(t *testing.T) {
	s := &fakeServer{service: time.Second}
	records := bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 2, InputTokens: 10})
		after(100 * time.Millisecond)
		p.FireLong(5000)
		after(0)
		if _, running, _, _ := s.counts(); running != 3 {
			t.Errorf("%d running, want 3", running)
		}
		after(3 * time.Second)
		if _, running, _, _ := s.counts(); running != 2 {
			t.Errorf("%d running later, want 2", running)
		}
	})
	long := 0
	for _, r := range records {
		if r.Long {
			long++
			if r.RequestedIn != 5000 || r.Slot != 2 {
				t.Errorf("the long prompt: %d tokens in slot %d", r.RequestedIn, r.Slot)
			}
		}
	}
	if long != 1 {
		t.Errorf("%d long prompts", long)
	}
}

// Lengths come in the order in which requests begin, so that a seed gives the same ones at any
// speed of the server; those beyond the context are cut to it, and a mean beyond it is sent as it is.
func TestLengthsOfASpread(t *testing.T) {
	sent := func(service time.Duration, l frame.Load) (in, out []int, cutTo int) {
		s := &fakeServer{service: service}
		records := bubble(t, s, func(p *Pool) {
			p.opt.Room = func(output int) (int, bool) { return 1200 - output, true }
			p.SetBudget(100)
			p.Set(l)
			after(3 * time.Hour)
			cutTo = p.CutTo()
		})
		for _, r := range records {
			in, out = append(in, r.RequestedIn), append(out, r.RequestedOut)
		}
		return in, out, cutTo
	}
	spread := frame.Load{Concurrency: 1, InputTokens: 1000, OutputTokens: 10,
		InputShape: length.Shape{Kind: length.Normal, Width: 0.5}, OutputShape: length.Shape{Kind: length.Uniform, Width: 0.5}}
	in, out, cutTo := sent(time.Second, spread)
	again, _, _ := sent(time.Minute, spread)
	if len(in) != 100 || !slices.Equal(in, again) {
		t.Errorf("%d lengths; at another speed they differ: %v, %v", len(in), in, again)
	}
	if low, high := slices.Min(in), slices.Max(in); low < 1 || low > 500 || high != cutTo || cutTo < 1185 || cutTo > 1195 {
		t.Errorf("prompts of %d to %d tokens, cut to %d; 1,200 fit with an answer of 5 to 15", low, high, cutTo)
	}
	if low, high := slices.Min(out), slices.Max(out); low != 5 || high != 15 {
		t.Errorf("answers of %d to %d tokens, want 5 to 15", low, high)
	}
	spread.InputTokens = 5000
	if in, _, _ := sent(time.Second, spread); slices.Max(in) != 5000 {
		t.Errorf("a mean beyond the context: the longest prompt is %d", slices.Max(in))
	}
}

func TestFileChoosesTheLengthOfAnswers(t *testing.T) {
	file, err := prompt.Read(strings.NewReader("{\"prompt\":\"a\",\"max_tokens\":7}\n{\"prompt\":\"b\"}\n"), "p.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeServer{service: time.Second, prompts: file}
	records := bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 1, OutputTokens: 50})
		after(1500 * time.Millisecond)
	})
	if len(records) != 2 || records[0].RequestedOut != 7 || records[1].RequestedOut != 50 {
		t.Errorf("records %+v", records)
	}
}
