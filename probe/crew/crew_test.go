package crew

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// rig is a NATS server, and an operator with the clock of a session.
type rig struct {
	*testing.T
	url   string
	stop  func()
	epoch time.Time
	*Operator

	mu    sync.Mutex
	notes []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, epoch: time.Now()}
	var err error
	if r.url, r.stop, err = ServeNATS("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop() })
	r.Operator = r.operate()
	return r
}

func (r *rig) operate() *Operator {
	r.Helper()
	conn, err := Connect(r.url, "", "operator")
	if err != nil {
		r.Fatal(err)
	}
	o, err := NewOperator(context.Background(), Options{
		Conn: conn, Run: "test", Name: "here", Job: Job{URL: "http://h:1"}, Now: func() time.Duration { return time.Since(r.epoch) },
		Note: func(s string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.notes = append(r.notes, s)
		}, Fail: func(err error) { r.Error(err) },
	})
	if err != nil {
		r.Fatal(err)
	}
	return o
}

func (r *rig) noted(part string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.notes, func(s string) bool { return strings.Contains(s, part) })
}

// within waits until something holds, as everything here does in the end: a limit only ends a test that hangs.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("never: " + what)
		}
	}
}

// truth is what the sessions of all workers send their load to: it knows the truth.
type truth struct {
	mu       sync.Mutex
	sessions []*fakeSession
}

func (s *truth) inFlight() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.sessions {
		n += f.loadNow().Concurrency
	}
	return n
}

func (s *truth) each(get func(*fakeSession) int) (all []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.sessions {
		all = append(all, get(f))
	}
	return all
}

// fakeSession has as many requests in flight as it is told to, and ends one of each stream every tick.
type fakeSession struct {
	epoch  time.Time
	mu     sync.Mutex
	load   frame.Load
	since  time.Time
	budget int
	longs  int
	aborts int
	sent   int
	done   chan struct{}
}

func (f *fakeSession) SetLoad(l frame.Load) frame.Load {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.load, f.since = l, time.Now()
	return l
}
func (f *fakeSession) SetRamp(time.Duration) {}
func (f *fakeSession) SetBudget(n int)       { f.mu.Lock(); f.budget = n; f.mu.Unlock() }
func (f *fakeSession) FireLong()             { f.mu.Lock(); f.longs++; f.mu.Unlock() }
func (f *fakeSession) Abort() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.load, f.aborts = frame.Load{}, f.aborts+1
}
func (f *fakeSession) Epoch() time.Time { return f.epoch }
func (f *fakeSession) Close()           { close(f.done) }
func (f *fakeSession) loadNow() frame.Load {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load
}

func (f *fakeSession) next() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent++
	return f.sent
}

// Follow closes a Frame every 20 ms, with a request of each stream that took 10 ms to its only token.
func (f *fakeSession) Follow(add func(*frame.Frame)) {
	for n := uint64(1); ; n++ {
		select {
		case <-f.done:
			return
		case <-time.After(20 * time.Millisecond):
		}
		l := f.loadNow()
		now := time.Since(f.epoch)
		fr := &frame.Frame{Seq: n, At: now}
		fr.Health.Stamps = "kernel"
		fr.Client.InFlight = l.Concurrency
		for slot := range l.Concurrency {
			n := f.next()
			fr.Requests = append(fr.Requests, measure.Request{ID: uint64(n), Slot: slot, Streamed: true, Chunks: 1, OutTokens: 1,
				Start: now - 20*time.Millisecond, First: now - 10*time.Millisecond, Last: now - 10*time.Millisecond, End: now})
			fr.Client.SliceTTFT = append(fr.Client.SliceTTFT, 10)
			fr.Streams = append(fr.Streams, measure.StreamCell{Slot: slot, Ended: true})
		}
		fr.Client.SliceOutTokens = l.Concurrency
		f.mu.Lock()
		fr.Client.Sent = f.sent
		f.mu.Unlock()
		add(fr)
	}
}

// options are those of a worker whose sessions the truth knows.
func (r *rig) options(conn *nats.Conn, s *truth, name string) WorkerOptions {
	return WorkerOptions{
		Conn: conn, Run: "test", Name: name, Say: func(string) {}, Fail: func(err error) { r.Error(err) },
		Open: func(context.Context, Job) (Session, error) {
			f := &fakeSession{epoch: time.Now(), done: make(chan struct{})}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sessions = append(s.sessions, f)
			return f, nil
		},
	}
}

// work runs a worker until stop.
func (r *rig) work(s *truth, name string) (stop context.CancelFunc) {
	r.Helper()
	conn, err := Connect(r.url, "", name)
	if err != nil {
		r.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := Work(ctx, r.options(conn, s, name))
		if err != nil {
			r.Error(err)
		}
	}()
	stop = func() {
		conn.Close() // as if the machine had gone: nobody hears of it
		cancel()
		<-done
	}
	r.Cleanup(func() {
		if ctx.Err() == nil {
			stop()
		}
	})
	return stop
}

func (r *rig) ready() (n int) {
	for _, w := range r.Workers() {
		if w.Takes() {
			n++
		}
	}
	return n
}

// Four workers share 18 streams as 5, 5, 4 and 4. One goes: the others have 6 each. Another
// one comes and has its share.
func TestSharesFollowTheWorkers(t *testing.T) {
	r, s := newRig(t), &truth{}
	defer r.Close()
	var stops []context.CancelFunc
	for i := range 4 {
		stops = append(stops, r.work(s, fmt.Sprint("w", i)))
	}
	within(t, "four workers", func() bool { return r.ready() == 4 })
	r.Set(frame.Load{Concurrency: 18, InputTokens: 9})
	streams := func(f *fakeSession) int { return f.loadNow().Concurrency }
	shares := func(want ...int) func() bool {
		return func() bool {
			got := s.each(streams)
			slices.Sort(got)
			return slices.Equal(got, want)
		}
	}
	within(t, "shares of 4, 4, 5 and 5", shares(4, 4, 5, 5))
	stops[0]()
	within(t, "the others take over", shares(0, 6, 6, 6)) // the lost one's session was aborted when it ended
	if !r.noted("w0 is lost") {
		t.Errorf("notes %q", r.notes)
	}
	r.work(s, "w4")
	within(t, "a new one has a share", shares(0, 4, 4, 5, 5))
}

// A worker that is stopped says so: its share goes to the others at once, and it is not called lost.
func TestAWorkerThatLeaves(t *testing.T) {
	r, s := newRig(t), &truth{}
	defer r.Close()
	r.work(s, "stays")
	within(t, "a worker", func() bool { return r.ready() == 1 })
	conn, err := Connect(r.url, "", "goes")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, leave := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Work(ctx, r.options(conn, s, "goes")) }()
	within(t, "two workers", func() bool { return r.ready() == 2 })
	r.Set(frame.Load{Concurrency: 6})
	within(t, "the load", func() bool { return s.inFlight() == 6 })
	leave()
	if err := <-done; err != nil {
		t.Error(err)
	}
	within(t, "the other one has it all", func() bool {
		got := s.each(func(f *fakeSession) int { return f.loadNow().Concurrency })
		return got[0] == 6 && got[1] == 0
	})
	if !r.noted("goes has left") || r.noted("is lost") {
		t.Errorf("notes %q", r.notes)
	}
}

// A worker whose reports do not get through is lost to the operator, who gives its share to others. It
// hears of that in the Plan, and stops: the load is never more than was requested.
func TestAWorkerWithoutAShareSendsNothing(t *testing.T) {
	f := &fakeSession{epoch: time.Now(), done: make(chan struct{})}
	w := &worker{epoch: time.Now(), session: f, state: Ready}
	w.apply(Share{})
	w.apply(Share{Change: 3, Load: frame.Load{Concurrency: 4}, Budget: -1})
	within(t, "its share", func() bool { return f.loadNow().Concurrency == 4 })
	w.apply(Share{})
	if l := f.loadNow(); l.Concurrency != 0 {
		t.Errorf("%d streams without a share", l.Concurrency)
	}
	w.apply(Share{Change: 5, Load: frame.Load{Concurrency: 2}, Budget: -1})
	within(t, "a share again", func() bool { return f.loadNow().Concurrency == 2 })
}

// All workers begin at one instant, on their own clocks.
func TestChangesTakeEffectTogether(t *testing.T) {
	r, s := newRig(t), &truth{}
	defer r.Close()
	for i := range 3 {
		r.work(s, fmt.Sprint("w", i))
	}
	within(t, "three workers", func() bool { return r.ready() == 3 })
	at := r.epoch.Add(r.Set(frame.Load{Concurrency: 3}))
	within(t, "the load", func() bool { return s.inFlight() == 3 })
	for _, f := range s.sessions {
		if d := f.since.Sub(at); d < -5*time.Millisecond { // late on a busy machine, but never early
			t.Errorf("a worker began %v before the instant", -d)
		}
	}
}

// What the workers see arrives on the operator's clock and is counted once: requests of all, each in a
// stream of its own.
func TestRequestsArriveOnTheOperatorsClock(t *testing.T) {
	r, s := newRig(t), &truth{}
	defer r.Close()
	r.work(s, "a")
	r.work(s, "b")
	within(t, "two workers", func() bool { return r.ready() == 2 })
	from := r.Set(frame.Load{Concurrency: 5})
	var all []measure.Request
	var standing collect.Standing
	within(t, "a hundred requests", func() bool {
		var list []collect.Slice
		r.Until(time.Since(r.epoch))
		list, standing = r.Take()
		for i := range list {
			all = append(all, list[i].Requests...)
		}
		return len(all) >= 100
	})
	if standing.InFlight != 5 {
		t.Errorf("%d in flight, want 5", standing.InFlight)
	}
	ids, slots := map[uint64]bool{}, map[int]bool{}
	now := time.Since(r.epoch)
	for i := range all {
		q := &all[i]
		ids[q.ID], slots[q.Slot] = true, true
		if ms, ok := q.TTFT(); !ok || ms < 9.99 || ms > 10.01 {
			t.Fatalf("TTFT %v, want 10 ms whatever the clocks are", ms)
		}
		if q.End < from || q.End > now+5*time.Millisecond {
			t.Errorf("a request ended at %v, between %v and %v by our clock", q.End, from, now)
		}
	}
	if len(ids) != len(all) || len(slots) != 5 {
		t.Errorf("%d requests have %d ids in %d streams, want 5", len(all), len(ids), len(slots))
	}
}

// Frames reach up to when all workers have reported: what one that is ahead saw later waits for the others.
func TestWhatAllHaveReported(t *testing.T) {
	const ms = time.Millisecond
	at := func(end time.Duration, inFlight int, ended ...time.Duration) queued {
		q := queued{end: end, standing: collect.Standing{InFlight: inFlight}}
		for _, e := range ended {
			q.slice.Requests = append(q.slice.Requests, measure.Request{End: e})
		}
		return q
	}
	a := &member{working: true, number: 1, until: 100 * ms, queue: []queued{at(350*ms, 1, 340*ms), at(600*ms, 2, 390*ms, 410*ms)}}
	b := &member{working: true, number: 2, until: 150 * ms, queue: []queued{at(400*ms, 10, 399*ms)}}
	o := &Operator{members: map[string]*member{"a": a, "b": b}}
	step := func(when string, until time.Duration, inFlight int, ended ...time.Duration) {
		t.Helper()
		if got := o.Until(time.Second); got != until {
			t.Errorf("%s: up to %v, want %v", when, got, until)
		}
		list, standing := o.Take()
		var all []time.Duration
		for i := range list {
			for _, r := range list[i].Requests {
				all = append(all, r.End)
			}
		}
		slices.Sort(all)
		if !slices.Equal(all, ended) || standing.InFlight != inFlight {
			t.Errorf("%s: requests that ended at %v, %d in flight; want %v and %d", when, all, standing.InFlight, ended, inFlight)
		}
	}
	step("both", 400*ms, 11, 340*ms, 390*ms, 399*ms)
	step("b is late", 400*ms, 11)
	b.working = false
	step("b is lost", 600*ms, 2, 410*ms)
	a.working = false
	step("nobody is left", time.Second, 0)
}

// An abort reaches all at once, and so does a long prompt one of them.
func TestAbortAndLongPrompts(t *testing.T) {
	r, s := newRig(t), &truth{}
	defer r.Close()
	r.work(s, "a")
	r.work(s, "b")
	within(t, "two workers", func() bool { return r.ready() == 2 })
	r.Set(frame.Load{Concurrency: 8})
	within(t, "the load", func() bool { return s.inFlight() == 8 })
	r.FireLong(5000)
	within(t, "one long prompt", func() bool {
		longs := s.each(func(f *fakeSession) int { f.mu.Lock(); defer f.mu.Unlock(); return f.longs })
		return longs[0]+longs[1] == 1
	})
	r.Abort()
	within(t, "no load", func() bool { return s.inFlight() == 0 })
	if aborts := s.each(func(f *fakeSession) int { f.mu.Lock(); defer f.mu.Unlock(); return f.aborts }); aborts[0] != 1 || aborts[1] != 1 {
		t.Errorf("aborts %v", aborts)
	}
}

// The operator dies without a word: the workers end their load by themselves, and are free for the next.
func TestLeaseOfADeadOperator(t *testing.T) {
	r, s := newRig(t), &truth{}
	r.work(s, "a")
	within(t, "a worker", func() bool { return r.ready() == 1 })
	r.Set(frame.Load{Concurrency: 4})
	within(t, "the load", func() bool { return s.inFlight() == 4 })
	r.cancel()
	r.opt.Conn.Close()
	within(t, "no load", func() bool { return s.inFlight() == 0 })
	r.Operator = r.operate()
	defer r.Close()
	within(t, "it works for the next one", func() bool { return r.ready() == 1 })
}

// The NATS server restarts: workers go on meanwhile, and what they saw arrives afterwards.
func TestNATSRestarts(t *testing.T) {
	r, s := newRig(t), &truth{}
	defer r.Close()
	r.work(s, "a")
	within(t, "a worker", func() bool { return r.ready() == 1 })
	r.Set(frame.Load{Concurrency: 2})
	within(t, "the load", func() bool { return s.inFlight() == 2 })
	r.stop()
	address := strings.TrimPrefix(r.url, "nats://")
	var err error
	if _, r.stop, err = ServeNATS(address); err != nil {
		t.Fatal(err)
	}
	r.Set(frame.Load{Concurrency: 3})
	within(t, "a change after the restart", func() bool { return s.inFlight() == 3 && r.ready() == 1 })
	r.Set(frame.Load{})
	var last uint64
	within(t, "all requests, in their order", func() bool {
		r.Until(time.Since(r.epoch))
		list, standing := r.Take()
		for i := range list {
			for _, q := range list[i].Requests {
				if q.ID != last+1 && last != 0 {
					t.Fatalf("request %d after %d", q.ID&0xffffffff, last&0xffffffff)
				}
				last = q.ID
			}
		}
		sent := s.each(func(f *fakeSession) int { f.mu.Lock(); defer f.mu.Unlock(); return f.sent })[0]
		return standing.InFlight == 0 && last&0xffffffff == uint64(sent)
	})
	if r.noted("missing") {
		t.Errorf("notes %q", r.notes)
	}
	if n := s.each(func(f *fakeSession) int { f.mu.Lock(); defer f.mu.Unlock(); return f.aborts }); len(n) != 1 || n[0] != 0 {
		t.Errorf("sessions with aborts: %v, want one without", n)
	}
}

func TestOneOperatorPerRun(t *testing.T) {
	r := newRig(t)
	defer r.Close()
	conn, err := Connect(r.url, "", "second")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx := context.Background()
	if err := CheckFree(ctx, conn, "test"); err == nil || err.Error() != `run "test" is already driven from here: choose another name with --run` {
		t.Error(err)
	}
	if err := CheckFree(ctx, conn, "other"); err != nil {
		t.Error(err)
	}
}

func TestNamesOfRuns(t *testing.T) {
	for _, good := range []string{"a", "tuesday-2", "A_b"} {
		if p := CheckRun(good); p != "" {
			t.Errorf("%q: %s", good, p)
		}
	}
	for _, bad := range []string{"", "a.b", "a b", "*", ">", strings.Repeat("x", 65)} {
		if CheckRun(bad) == "" {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// An address needs no scheme, and where nobody answers the error names it without its password.
func TestAddressesOfNATS(t *testing.T) {
	r := newRig(t)
	defer r.Close()
	conn, err := Connect(strings.TrimPrefix(r.url, "nats://"), "", "bare")
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	r.stop()
	for _, address := range []string{strings.TrimPrefix(r.url, "nats://"), strings.Replace(r.url, "nats://", "nats://user:secret@", 1)} {
		_, err := Connect(address, "", "late")
		if err == nil || !strings.HasPrefix(err.Error(), "no NATS server answers at nats://") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
