package probe_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/sim"
	"sonde/probe/simtest"
)

// Ten requests, one every second, with a prefix of two blocks that all but the first find in the
// cache. Requests begin exactly when they are due, the schedule shows what is ahead, and
// both ends of the trace are marked.
func TestATraceOnTheEmbeddedEngine(t *testing.T) {
	trace := &arrivals.Trace{Name: "t.jsonl"}
	for i := range 10 {
		trace.Arrivals = append(trace.Arrivals, arrivals.Arrival{
			At: time.Duration(i) * time.Second, In: 1200 + 8*i, Out: 4 + i, Blocks: []uint64{1, 2, uint64(10 + i)},
		})
	}
	synctest.Test(t, func(t *testing.T) {
		in, out := trace.Means()
		r := simtest.Start(t, sim.Options{}, probe.Options{
			Prefix: "unique", Trace: trace,
			Load: frame.Load{Concurrency: 16, Rate: trace.Rate(), Trace: trace.Name, InputTokens: in, OutputTokens: out},
		})
		var marks []string
		var last *frame.Frame
		var due []time.Duration
		r.Play(15*time.Second, func(f *frame.Frame) {
			last = f
			for _, e := range f.Events {
				if strings.HasPrefix(e.Text, "trace ") {
					marks = append(marks, e.Text)
				}
			}
			for i := range f.Requests {
				q := &f.Requests[i]
				due = append(due, q.Intent)
				if q.RequestedOut != 4+len(due)-1 || q.OutTokens != q.RequestedOut || q.RequestedIn != 1200+8*(len(due)-1) {
					t.Errorf("request %d: %d tokens in, %d of %d out", len(due), q.RequestedIn, q.OutTokens, q.RequestedOut)
				}
				// Two blocks of 512 tokens, and a template before them; the engine caches 16 at a time.
				if hit := q.CachedTokens; len(due) == 1 && hit != 0 || len(due) > 1 && (hit < 1008 || hit > 1040) {
					t.Errorf("request %d: %d tokens came from the prefix cache, want 1,024", len(due), hit)
				}
				if wait := q.ClientQueue(); wait > 1e-6 {
					t.Errorf("request %d began %v ms after its time", len(due), wait)
				}
			}
			if p := f.Load.Replay; p != nil && !p.Ended && p.At > 0 && p.At < p.Length && (!f.Load.Moving() || math.Abs(f.Load.Rate()-1) > 0.25) {
				t.Errorf("at %s: %v requests per second, ahead %+v", p.At, f.Load.Rate(), f.Load.Ahead)
			}
			if f.Load.Settled {
				t.Error("a trace has settled")
			}
		})
		if len(due) != 10 || due[9]-due[0] != 9*time.Second {
			t.Errorf("requests were due at %v", due)
		}
		if want := "trace t.jsonl begins: 10 requests within 9 s|trace t.jsonl has ended: 10 of 10 requests sent"; strings.Join(marks, "|") != want {
			t.Errorf("%q", marks)
		}
		if p := last.Load.Replay; p == nil || !p.Ended || p.Sent != 10 || last.Load.Moving() || last.Load.Rate() != 0 {
			t.Errorf("at the end: %+v, %v per second", p, last.Load.Rate())
		}
	})
}

// From 2 to 10 per second within 20 s.
func TestARampShowsWhatIsAheadAndSettlesAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{}, probe.Options{
			Prefix: "unique", Load: frame.Load{Concurrency: 64, Rate: 10, Ramp: arrivals.Ramp{From: 2, Over: 20 * time.Second}, InputTokens: 64, OutputTokens: 16},
		})
		var settled time.Duration
		since := time.Duration(-1)
		r.Play(40*time.Second, func(f *frame.Frame) {
			if since < 0 && f.Load.Requested.Rate > 0 {
				since = f.At
			}
			at := f.At - since
			if want := 2 + 8*at.Seconds()/20; since >= 0 && at > time.Second && at < 19*time.Second && math.Abs(f.Load.Rate()-want) > 0.2 {
				t.Errorf("at %s %v per second are due, want %v", at, f.Load.Rate(), want)
			}
			if at > 21*time.Second && (f.Load.Moving() || f.Load.Rate() != 10) {
				t.Errorf("at %s %v per second, ahead %+v", at, f.Load.Rate(), f.Load.Ahead)
			}
			if f.Load.Settled && settled == 0 {
				settled = at
			}
		})
		if settled < 24*time.Second {
			t.Errorf("settled after %s, want 20 s and two windows of 2 s", settled)
		}
	})
}
