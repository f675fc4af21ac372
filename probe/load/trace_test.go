package load

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/api"
	"sonde/probe/arrivals"
	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/prompt"
)

// texts keeps the prompts that come, and answers after a second.
type texts struct {
	mu    sync.Mutex
	calls []api.Call
}

func (x *texts) Do(ctx context.Context, call api.Call, _ api.Observer) api.Result {
	x.mu.Lock()
	x.calls = append(x.calls, call)
	x.mu.Unlock()
	sleepUntil(ctx, time.Second)
	return api.Result{}
}

// replayFor replays a trace under a cap in virtual time, and gives back what the requests'
// records say and what has become of the trace.
func replayFor(t *testing.T, trace *arrivals.Trace, most int, d time.Duration, room int) (records []measure.Request, s frame.TraceState, calls []api.Call) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		epoch, server := time.Now(), &texts{}
		collector := collect.NewCollector(func() (int, time.Duration) { return 0, 0 })
		p := New(Options{
			Doer: server, Prompts: prompt.NewSynthetic(prompt.Unique, 1), NewTrack: collector.NewTrack, Epoch: epoch, Trace: trace,
			Fail: func(err error) { t.Error(err) },
			Room: func(out int) (int, bool) { return room - out, room > 0 },
		})
		time.Sleep(time.Second)
		p.Set(frame.Load{Concurrency: most, Rate: trace.Rate(), Trace: "t", InputTokens: 5, OutputTokens: 5})
		after(d)
		s = *p.Replay()
		p.Close()
		records, calls = collector.Tick(time.Since(epoch), false).Requests, server.calls
	})
	return records, s, calls
}

func listOf(at ...time.Duration) *arrivals.Trace {
	t := &arrivals.Trace{Name: "t"}
	for i, d := range at {
		t.Arrivals = append(t.Arrivals, arrivals.Arrival{At: d, In: 100 + i, Out: 10 + i})
	}
	return t
}

const sec = time.Second

func TestATraceArrivesAsRecorded(t *testing.T) {
	records, s, calls := replayFor(t, listOf(0, 0, 300*time.Millisecond, 2*sec), 10, 10*sec, 0)
	want := []time.Duration{0, 0, 300 * time.Millisecond, 2 * sec}
	if len(records) != 4 || len(calls) != 4 {
		t.Fatalf("%d records, %d calls", len(records), len(calls))
	}
	for _, r := range records {
		i := r.RequestedIn - 100
		if r.Intent != sec+want[i] || r.RequestedOut != 10+i {
			t.Errorf("request %d: due at %s, %d tokens wanted; want %s, %d", i, r.Intent, r.RequestedOut, sec+want[i], 10+i)
		}
	}
	if s.Sent != 4 || s.Waited != 0 || s.LeftOut != 0 || !s.Ended || s.At != 2*sec || s.Length != 2*sec || s.Arrivals != 4 {
		t.Errorf("%+v", s)
	}
}

// Under a cap of one, requests of a second that are due at 0, 0 and 0.5 s begin at 0, 1 and
// 2 s: two of them waited, the longest 1.5 s.
func TestCappedArrivalsAreCounted(t *testing.T) {
	_, s, _ := replayFor(t, listOf(0, 0, 500*time.Millisecond), 1, 800*time.Millisecond, 0)
	if s.Sent != 1 || s.Waiting != 2 || s.Ended {
		t.Errorf("after 0.8 s: %+v", s)
	}
	_, s, _ = replayFor(t, listOf(0, 0, 500*time.Millisecond), 1, 10*sec, 0)
	if s.Sent != 3 || s.Waited != 2 || s.LongestWait != 1500*time.Millisecond || !s.Ended {
		t.Errorf("%+v", s)
	}
}

// A context of 112 tokens has room for prompts of 101 and 100 beside answers of 11 and 12. An answer of 200 has no
// room at all.
func TestWhatDoesNotFitIsCutOrSkipped(t *testing.T) {
	trace := listOf(0, 0, 0, 0)
	trace.Arrivals[3].Out = 200
	records, s, _ := replayFor(t, trace, 10, 10*sec, 112)
	if s.Cut != 1 || s.CutTo != 100 || s.Skipped != 1 || s.Sent != 3 || !s.Ended {
		t.Errorf("%+v", s)
	}
	for _, r := range records {
		if want := min(100+r.RequestedOut-10, 112-r.RequestedOut); r.RequestedIn != want {
			t.Errorf("a prompt of %d beside an answer of %d", r.RequestedIn, r.RequestedOut)
		}
	}
}

func TestEqualBlocksBeginAlike(t *testing.T) {
	trace := listOf(0, sec/2)
	for i := range trace.Arrivals {
		trace.Arrivals[i].In, trace.Arrivals[i].Blocks = 1200, []uint64{1, 2, uint64(3 + i)}
	}
	_, _, calls := replayFor(t, trace, 10, 5*sec, 0)
	a, b := strings.Fields(calls[0].Text), strings.Fields(calls[1].Text)
	n := 0
	for n < len(a) && a[n] == b[n] {
		n++
	}
	if n < 1024 || n > 1040 {
		t.Errorf("%d words in common, want the 1,024 of two blocks", n)
	}
}

func TestALoadOfItsOwnEndsTheTrace(t *testing.T) {
	s := &fakeServer{service: time.Millisecond}
	bubble(t, s, func(p *Pool) {
		p.opt.Trace = listOf(0, sec, 2*sec, 3*sec)
		p.Set(frame.Load{Concurrency: 5, Rate: 1, Trace: "t"})
		after(1500 * time.Millisecond)
		if now, ahead := p.Outlook(); now == 0 || ahead.Step == 0 {
			t.Errorf("%v per second, %+v ahead", now, ahead)
		}
		p.Set(frame.Load{Concurrency: 5, Rate: 10})
		after(10 * time.Second)
		if n, _, _, _ := s.counts(); n != 103 || p.Replay() != nil { // 2, and 101 of the rate
			t.Errorf("%d requests, replay %v", n, p.Replay())
		}
	})
}

func TestAbortEndsTheTrace(t *testing.T) {
	s := &fakeServer{service: time.Hour}
	bubble(t, s, func(p *Pool) {
		p.opt.Trace = listOf(0, sec, 2*sec, 3*sec)
		p.Set(frame.Load{Concurrency: 5, Rate: 1, Trace: "t"})
		after(1500 * time.Millisecond)
		p.Abort()
		after(10 * time.Second)
		if n, running, _, cancelled := s.counts(); n != 2 || running != 0 || cancelled != 2 {
			t.Errorf("%d requests, %d running, %d cancelled", n, running, cancelled)
		}
	})
}
