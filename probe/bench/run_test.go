package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/measure"
	"sonde/probe/record"
)

// fakeSession is a session in virtual time: every request takes one second,
// with ten tokens at 100, 200 … 1000 ms.
type fakeSession struct {
	mu      sync.Mutex
	began   time.Time
	load    frame.Load
	budget  int
	sent    int
	running map[int]time.Duration // slot → start
	ended   []measure.Request
	events  []frame.Event
	frames  []*frame.Frame
	fatal   error

	loading int           // so many requests are refused first
	lasts   time.Duration // of a request
	ticks   chan struct{}
	stop    chan struct{}
}

func newFakeSession() *fakeSession {
	return &fakeSession{
		began: time.Now(), running: map[int]time.Duration{}, lasts: time.Second,
		ticks: make(chan struct{}, 1), stop: make(chan struct{}),
	}
}

func (s *fakeSession) now() time.Duration { return time.Since(s.began) }

// start lets the session run: a step each 10 ms, a Frame each 250 ms.
func (s *fakeSession) start() {
	guard.Go("session", func(err error) { panic(err) }, func() {
		defer close(s.ticks)
		step := time.NewTicker(10 * time.Millisecond)
		defer step.Stop()
		for n := 1; ; n++ {
			select {
			case <-s.stop:
				return
			case <-step.C:
			}
			s.mu.Lock()
			s.work()
			if n%25 == 0 {
				s.closeFrame()
			}
			s.mu.Unlock()
		}
	})
}

// work ends what is due and begins what is allowed.
func (s *fakeSession) work() {
	for slot, start := range s.running {
		if s.now() >= start+s.lasts {
			r := stream(ms(start), 100, 100, int(s.lasts/at(100)))
			s.finish(slot, r)
		}
	}
	for slot := range s.load.Concurrency {
		if _, busy := s.running[slot]; busy || s.budget == 0 {
			continue
		}
		if s.budget > 0 {
			s.budget--
		}
		s.sent++
		s.running[slot] = s.now()
		if s.loading > 0 {
			s.loading--
			s.finish(slot, failed(ms(s.now()), measure.Loading, "loading"))
		}
	}
}

func (s *fakeSession) finish(slot int, r measure.Request) {
	delete(s.running, slot)
	s.ended = append(s.ended, r)
}

func (s *fakeSession) closeFrame() {
	f := &frame.Frame{Seq: uint64(len(s.frames) + 1), At: s.now(), Slice: tick, Requests: s.ended, Events: s.events, Err: s.fatal}
	f.Load.Requested = s.load
	f.Client.InFlight, f.Client.Sent = len(s.running), s.sent
	s.ended, s.events = nil, nil
	s.frames = append(s.frames, f)
	select {
	case s.ticks <- struct{}{}:
	default:
	}
}

func (s *fakeSession) Since(seq uint64) []*frame.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frames[min(seq, uint64(len(s.frames))):]
}

func (s *fakeSession) SetLoad(l frame.Load) frame.Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load = l
	s.events = append(s.events, frame.Event{At: s.now(), Kind: frame.EventLoad})
	return l
}

func (s *fakeSession) SetBudget(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget = n
}

func (s *fakeSession) Abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load.Concurrency = 0
	for slot, start := range s.running {
		r := stream(ms(start), 100, 100, 1)
		r.Class, r.End = measure.Cancelled, s.now()
		s.finish(slot, r)
	}
}

func (s *fakeSession) Tick() <-chan struct{} { return s.ticks }

// runFake runs the plan in virtual time. The session has been idle for a while
// before.
func runFake(t *testing.T, plan Plan, prepare func(*fakeSession), ctx context.Context) (*fakeSession, Outcome, error) {
	t.Helper()
	s := newFakeSession()
	if prepare != nil {
		prepare(s)
	}
	s.start()
	time.Sleep(1020 * time.Millisecond)
	var shown Progress
	sum, err := Run(ctx, s, plan, func(p Progress) { shown = p })
	if err == nil && !sum.Interrupted && shown.Phase != Done {
		t.Errorf("progress ended at %+v", shown)
	}
	close(s.stop)
	return s, sum, err
}

func TestRunForADuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := Plan{Load: closed, Duration: 10500 * time.Millisecond, DrainFor: time.Minute}
		s, sum, err := runFake(t, plan, nil, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := sum.Level.Held; d != 10500*time.Millisecond {
			t.Errorf("duration %v", d)
		}
		// Forty requests and a half each of four more; a step is 10 ms late.
		if sum.Level.OK != 44 || sum.Level.Sent != s.sent {
			t.Errorf("counts %+v, sent %d", sum.Level.Counts, s.sent)
		}
		if r := sum.Level.OutTokensPerS.V; r < 39 || r > 40 {
			t.Errorf("rate %v", r)
		}
		if s.load.Concurrency != 0 || s.budget != 0 || len(s.running) != 0 {
			t.Errorf("the session is not left idle: %+v", s.load)
		}
	})
}

func TestRunForACountSendsExactlyThat(t *testing.T) {
	for _, c := range []struct {
		plan    Plan
		loading int
		sent    int // as the server sees it
	}{
		{Plan{Requests: 10}, 0, 10},
		{Plan{Requests: 3, Duration: time.Minute}, 0, 3},
		{Plan{Requests: 10, WarmupRequests: 5}, 0, 15},
		{Plan{Requests: 10, WarmupFor: 2500 * time.Millisecond}, 0, 10 + 12},
		{Plan{Requests: 10}, 13, 23},
		{Plan{Requests: 10, WarmupRequests: 5}, 7, 22},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.plan.Load, c.plan.DrainFor = closed, time.Minute
			s, sum, err := runFake(t, c.plan, func(s *fakeSession) { s.loading = c.loading }, t.Context())
			if err != nil || sum.Level.OK != c.plan.Requests || sum.Level.Sent != c.plan.Requests+c.loading {
				t.Errorf("%+v: counts %+v, %v", c.plan, sum.Level.Counts, err)
			}
			if s.sent != c.sent {
				t.Errorf("%+v: the server saw %d requests, want %d", c.plan, s.sent, c.sent)
			}
		})
	}
}

func TestTheDrainIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := Plan{Load: closed, Duration: 2 * time.Second, DrainFor: 5 * time.Second}
		s, sum, err := runFake(t, plan, func(s *fakeSession) { s.lasts = time.Hour }, t.Context())
		if err != nil || sum.Level.Cancelled != 4 || sum.Interrupted {
			t.Errorf("counts %+v, %v", sum.Level.Counts, err)
		}
		if took := s.now(); took > 9*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestInterruptingSavesWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		s, sum, err := runFake(t, Plan{Load: closed, Duration: time.Hour, DrainFor: time.Minute}, nil, ctx)
		if err != nil || !sum.Interrupted {
			t.Errorf("interrupted %v, %v", sum.Interrupted, err)
		}
		// One second idle, 2.5 s of load: eight requests are done, four running.
		if sum.Level.OK != 8 || sum.Level.Cancelled != 4 {
			t.Errorf("counts %+v", sum.Level.Counts)
		}
		if took := s.now(); took > 4*time.Second {
			t.Errorf("took %v to stop", took-3500*time.Millisecond)
		}
	})
}

func TestASessionThatDiesEndsTheRun(t *testing.T) {
	fault := errors.New("no route")
	synctest.Test(t, func(t *testing.T) {
		_, sum, err := runFake(t, Plan{Load: closed, Duration: time.Hour}, func(s *fakeSession) {
			time.AfterFunc(3*time.Second, func() { s.mu.Lock(); s.fatal = fault; s.mu.Unlock() })
		}, t.Context())
		if !errors.Is(err, fault) || sum.Level.OK == 0 {
			t.Errorf("%v, counts %+v", err, sum.Level.Counts)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSession()
		s.start()
		time.AfterFunc(2*time.Second, func() { close(s.stop) })
		if _, err := Run(t.Context(), s, Plan{Load: closed, Duration: time.Hour}, nil); !errors.Is(err, errEnded) {
			t.Errorf("%v", err)
		}
	})
}

// memory is a file in memory.
type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }

func TestARecordingGivesTheSameSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := Plan{Load: closed, Requests: 50, WarmupRequests: 4, DrainFor: time.Minute}
		s, live, err := runFake(t, plan, nil, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		file := &memory{}
		w := record.NewWriter(file, record.Header{})
		for _, f := range s.frames {
			w.Add(f)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, frames, err := record.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(live)
		w2 := NewWindow(plan)
		for _, f := range frames {
			w2.Add(f)
		}
		b, _ := json.Marshal(w2.Outcome())
		if !bytes.Equal(a, b) || live.Level.OK != 50 {
			t.Errorf("live\n%s\nrecorded\n%s", a, b)
		}
	})
}

// at is an instant in milliseconds since the session began.
func at(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// stream makes a successful request: started, its first token after ttft, then
// one token per gap. All times are milliseconds.
func stream(start, ttft, gap float64, tokens int) measure.Request {
	r := measure.Request{
		Intent: at(start), Start: at(start), First: at(start + ttft), Answer: at(start + ttft),
		Last: at(start + ttft + gap*float64(tokens-1)), Reused: true, Streamed: true, HaveAnswer: true,
		Chunks: tokens, FirstTokens: 1, RequestedIn: 8, RequestedOut: tokens, InTokens: 8, OutTokens: tokens,
		Source: measure.Usage, Finish: "stop",
	}
	r.End = r.Last
	for range tokens - 1 {
		r.GapsMS = append(r.GapsMS, float32(gap))
	}
	return r
}

// failed makes a request that failed right away.
func failed(start float64, class measure.Class, message string) measure.Request {
	return measure.Request{
		Class: class, Error: message, Intent: at(start), Start: at(start), End: at(start + 5), Streamed: true, RequestedIn: 8, RequestedOut: 8,
	}
}

// tick is the length of the test Frames.
const tick = 250 * time.Millisecond

var closed = frame.Load{Concurrency: 4, InputTokens: 8, OutputTokens: 100}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// A run ends with its trace, also where nothing else would end it. What is in flight is waited for.
func TestARunEndsWithItsTrace(t *testing.T) {
	load := frame.Load{Concurrency: 4, Rate: 2, Trace: "t"}
	w := NewWindow(Plan{Load: load})
	for i, c := range []struct {
		inFlight int
		ended    bool
		want     Phase
	}{{1, false, Measuring}, {0, false, Measuring}, {2, true, Draining}, {1, true, Draining}, {0, true, Done}} {
		f := &frame.Frame{Seq: uint64(i + 1), At: time.Duration(i+1) * time.Second, Slice: time.Second}
		f.Load = frame.LoadState{Requested: load, Replay: &frame.TraceState{Ended: c.ended}}
		f.Client.InFlight = c.inFlight
		if w.Add(f); w.Phase() != c.want {
			t.Errorf("after %s: phase %v, want %v", f.At, w.Phase(), c.want)
		}
	}
}
