package headless

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

	"sonde/probe/report"
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
	f.Load.Asked = s.load
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

func (s *fakeSession) SetLoad(l frame.Load) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load = l
	s.events = append(s.events, frame.Event{At: s.now(), Kind: frame.EventLoad})
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
func runFake(t *testing.T, plan Plan, prepare func(*fakeSession), ctx context.Context) (*fakeSession, Summary, error) {
	t.Helper()
	s := newFakeSession()
	if prepare != nil {
		prepare(s)
	}
	s.start()
	time.Sleep(1020 * time.Millisecond)
	sum, err := Run(ctx, s, plan, func(p report.Progress) {
		if p.Line() == "" {
			t.Error("no progress")
		}
	})
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
		near(t, "duration", sum.DurationS, 10.5)
		// Forty requests and a half each of four more; a step is 10 ms late.
		if sum.Requests.OK != 44 || sum.Requests.Sent != s.sent {
			t.Errorf("counts %+v, sent %d", sum.Requests, s.sent)
		}
		if r := sum.Rates.OutputPerS.V; r < 39 || r > 40 {
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
			if err != nil || sum.Requests.OK != c.plan.Requests || sum.Requests.Sent != c.plan.Requests+c.loading {
				t.Errorf("%+v: counts %+v, %v", c.plan, sum.Requests, err)
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
		if err != nil || sum.Requests.Cancelled != 4 || sum.Interrupted {
			t.Errorf("counts %+v, %v", sum.Requests, err)
		}
		if took := s.now(); took > 9*time.Second {
			t.Errorf("took %v", took)
		}
		hasNote(t, sum, "4 streams were still running")
	})
}

func TestInterruptingSavesWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		s, sum, err := runFake(t, Plan{Load: closed, Duration: time.Hour, DrainFor: time.Minute}, nil, ctx)
		if err != nil || !sum.Interrupted || sum.ExitCode() != 130 {
			t.Errorf("interrupted %v, %v", sum.Interrupted, err)
		}
		// One second idle, 2.5 s of load: eight requests are done, four running.
		if sum.Requests.OK != 8 || sum.Requests.Cancelled != 4 {
			t.Errorf("counts %+v", sum.Requests)
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
		if !errors.Is(err, fault) || sum.Requests.OK == 0 {
			t.Errorf("%v, counts %+v", err, sum.Requests)
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
		b, _ := json.Marshal(summarise(plan, frames))
		if !bytes.Equal(a, b) || live.Requests.OK != 50 {
			t.Errorf("live\n%s\nrecorded\n%s", a, b)
		}
	})
}
