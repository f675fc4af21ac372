package collect

import (
	"testing"
	"time"

	"sonde/probe/measure"
)

const tick = 250 * time.Millisecond

// stream plays requests on a track: TTFT, then a token every gap.
type stream struct {
	track        *Track
	start        time.Duration
	ttft, gap    time.Duration
	tokens, sent int // of the running request
	think        time.Duration
}

// play emits all tokens that arrive up to now, starting the next request when
// one ends.
func (s *stream) play(now time.Duration) {
	for {
		at := s.start + s.ttft + time.Duration(s.sent)*s.gap
		if at > now {
			return
		}
		if s.sent == 0 {
			s.track.Begin(s.start, false, 7)
			s.track.Sent(s.start)
		}
		s.track.Token(at, 0, 1)
		if s.sent++; s.sent == s.tokens {
			s.track.End(measure.Request{
				Start: s.start, First: s.start + s.ttft, Last: at, End: at, Streamed: true,
				Chunks: s.tokens, InTokens: 7, OutTokens: s.tokens, FirstTokens: 1, Source: measure.Usage,
			})
			s.start, s.sent = at+s.think, 0
			s.track.Think(s.think > 0)
		}
	}
}

func run(c *Collector, from, to time.Duration, streams ...*stream) Tick {
	var out Tick
	for now := from + tick; now <= to; now += tick {
		for _, s := range streams {
			s.play(now)
		}
		out = c.Tick(now, false)
	}
	return out
}

func none() (int, time.Duration) { return 0, 0 }

// Four streams that never pause, a token every 10 ms each: 400 tokens/s, by
// arrival, wherever requests begin and end.
func TestRatesCountArrivals(t *testing.T) {
	c := NewCollector(none)
	c.SetWindow(10 * time.Second)
	var streams []*stream
	for i := range 4 {
		streams = append(streams, &stream{track: c.NewTrack(), ttft: 10 * time.Millisecond, gap: 10 * time.Millisecond, tokens: 100, start: time.Duration(i) * time.Millisecond})
	}
	got := run(c, 0, 20*time.Second, streams...).Client
	if !near(got.OutTokensPerS, 400, 4) {
		t.Errorf("%v tokens/s, want 400", got.OutTokensPerS)
	}
	if !near(got.RequestsPerS, 4, 0.21) || !near(got.InTokensPerS, 28, 3) {
		t.Errorf("%v requests/s, %v tokens/s in; want 4 and 28", got.RequestsPerS, got.InTokensPerS)
	}
	if got.TTFT.P50 != 10 || got.TPOT.P50 != 10 || got.Gap.P99 != 10 || got.E2E.P50 != 1000 {
		t.Errorf("TTFT %v, TPOT %v, gap p99 %v, E2E %v; want 10, 10, 10, 1000 ms", got.TTFT.P50, got.TPOT.P50, got.Gap.P99, got.E2E.P50)
	}
	if got.InFlight > 4 || !near(got.ConcurrencyMean.V, 4, 0.1) || !near(got.Little.V, 1, 0.06) {
		t.Errorf("in flight %d, mean %v, Little %v", got.InFlight, got.ConcurrencyMean, got.Little)
	}
	if got.TokensPerChunk.V != 1 || got.OutputTokens.V != 100 || got.InputTokens.V != 7 {
		t.Errorf("per chunk %v, lengths %v in, %v out", got.TokensPerChunk, got.InputTokens, got.OutputTokens)
	}
}

func TestFailuresAreNoLatencies(t *testing.T) {
	c := NewCollector(none)
	track := c.NewTrack()
	for _, class := range []measure.Class{measure.RateLimited, measure.Cancelled, measure.Loading, measure.StreamError} {
		track.Begin(0, false, 1)
		track.End(measure.Request{Class: class, Error: "x", Start: 0, First: 1, Last: 2, End: 3, Streamed: true, Chunks: 2, OutTokens: 2, FirstTokens: 1})
	}
	got := c.Tick(tick, false).Client
	if got.Failed != 2 || got.Cancelled != 1 || got.OK != 0 || got.Sent != 4 {
		t.Errorf("failed %d, cancelled %d, ok %d, sent %d; want 2, 1, 0, 4", got.Failed, got.Cancelled, got.OK, got.Sent)
	}
	if got.ByClass[measure.Cancelled] != 0 || got.ByClass[measure.Loading] != 1 || got.ByClass[measure.RateLimited] != 1 {
		t.Errorf("by class %v", got.ByClass)
	}
	if got.TPOT.N+got.E2E.N != 0 || got.LastError != "stream_error: x" {
		t.Errorf("TPOT n %d, E2E n %d, last error %q", got.TPOT.N, got.E2E.N, got.LastError)
	}
}

func TestWaitingShowsWhileItLasts(t *testing.T) {
	c := NewCollector(none)
	a, b := c.NewTrack(), c.NewTrack()
	a.Begin(0, false, 1)
	a.Sent(0)
	b.Begin(0, false, 1)
	b.Sent(0)
	b.Token(100*time.Millisecond, 0, 1)
	got := run(c, 0, 8*time.Second)
	if got.Client.OldestWaiting != 8*time.Second || got.Client.Prefill != 1 || got.Client.InFlight != 2 {
		t.Errorf("oldest waiting %v, prefill %d, in flight %d", got.Client.OldestWaiting, got.Client.Prefill, got.Client.InFlight)
	}
	if cell := got.Cells[1]; cell.State != measure.StreamDecode || cell.MaxGapMS != 7900 {
		t.Errorf("a stalled stream: %+v, want an open gap of 7900 ms", cell)
	}
}

func TestLevelsHoldTheirOwnRequests(t *testing.T) {
	c := NewCollector(none)
	s := &stream{track: c.NewTrack(), ttft: 50 * time.Millisecond, gap: 10 * time.Millisecond, tokens: 20}
	c.SetLevel(0, Goal{Streams: 1})
	got := run(c, 0, 3*time.Second, s)
	if got.Level != 1 || got.Settled {
		t.Errorf("level %d, settled %v after 3 s; two windows of 2 s have to agree first", got.Level, got.Settled)
	}
	got = run(c, 3*time.Second, 10*time.Second, s)
	if !got.Settled || got.Client.Level.TTFT.P50 != 50 {
		t.Errorf("settled %v, %+v", got.Settled, got.Client.Level)
	}

	changed := 10*time.Second + 100*time.Millisecond
	c.SetLevel(changed, Goal{Streams: 1})
	s.ttft = 200 * time.Millisecond
	got = run(c, 10*time.Second, 10*time.Second+500*time.Millisecond, s)
	for _, r := range got.Requests {
		if (r.Start < changed) != (r.Level == 0) {
			t.Errorf("a request from %v to %v is of level %d; the load changed at %v", r.Start, r.End, r.Level, changed)
		}
	}
	got = run(c, 10*time.Second+500*time.Millisecond, 20*time.Second, s)
	if got.Level != 2 || !got.Settled || got.Client.Level.TTFT.Min != 200 {
		t.Errorf("level %d, settled %v, TTFT from %v ms; want 2, true, 200", got.Level, got.Settled, got.Client.Level.TTFT.Min)
	}
}

// The stream behaves alike all along, but the load that was requested is only reached after 6 s.
func TestARampSettlesAfterItsEnd(t *testing.T) {
	c := NewCollector(none)
	s := &stream{track: c.NewTrack(), ttft: 50 * time.Millisecond, gap: 10 * time.Millisecond, tokens: 20}
	c.SetLevel(0, Goal{Over: 6 * time.Second})
	if got := run(c, 0, 9*time.Second, s); got.Settled {
		t.Error("settled within two windows of 2 s after the end of the ramp")
	}
	if got := run(c, 9*time.Second, 12*time.Second, s); !got.Settled {
		t.Error("not settled 6 s after the end of the ramp")
	}
}

// Four streams of requests of 500 ms and pauses of 4.5 s. Between two turns they are part of the load
// and not in flight; the level settles after twice the 5 s in which each has had its turn.
func TestThinkingStreamsSettle(t *testing.T) {
	c := NewCollector(none)
	c.SetLevel(0, Goal{Streams: 4, Think: 4500 * time.Millisecond})
	var streams []*stream
	for i := range 4 {
		streams = append(streams, &stream{
			track: c.NewTrack(), start: time.Duration(i) * time.Second,
			ttft: 100 * time.Millisecond, gap: 10 * time.Millisecond, tokens: 41, think: 4500 * time.Millisecond,
		})
	}
	settled := time.Duration(0)
	for now := time.Duration(0); now < 30*time.Second; now += tick {
		got := run(c, now, now+tick, streams...)
		if got.Settled && settled == 0 {
			settled = now + tick
		}
		if cl := got.Client; now > 4*time.Second && cl.InFlight+cl.Thinking != 4 {
			t.Fatalf("at %v %d streams in flight, %d thinking; want 4 together", now, cl.InFlight, cl.Thinking)
		}
		if cl := got.Client; now > 29*time.Second && (!near(cl.Little.V, 1, 0.1) || !near(cl.ConcurrencyMean.V, 0.4, 0.04)) {
			t.Errorf("in flight %v on average, Little %v; want 0.4 and 1", cl.ConcurrencyMean, cl.Little)
		}
	}
	if settled < 10*time.Second || settled > 15*time.Second {
		t.Errorf("settled after %v, want 10 to 15 s", settled)
	}
}

func TestStoppedProcessExcludes(t *testing.T) {
	c := NewCollector(none)
	track := c.NewTrack()
	track.Begin(0, false, 1)
	track.Sent(0)
	track.Token(5*time.Second, 0, 1)
	track.Token(20*time.Second, 0, 1)
	track.End(measure.Request{Start: 0, First: 5 * time.Second, Last: 20 * time.Second, End: 20 * time.Second, Streamed: true, Chunks: 2, OutTokens: 2, FirstTokens: 1})
	got := c.Tick(20*time.Second, true)
	if got.Client.TTFT.N+got.Client.Gap.N+got.Client.E2E.N != 0 || !got.Requests[0].Excluded || got.Client.OK != 1 {
		t.Errorf("TTFT n %d, gap n %d; excluded %v, ok %d", got.Client.TTFT.N, got.Client.Gap.N, got.Requests[0].Excluded, got.Client.OK)
	}
}

// A request that outlives the stop is about us as well; the next one is not.
func TestRequestsAliveDuringAStopGiveNoSample(t *testing.T) {
	c := NewCollector(none)
	track := c.NewTrack()
	track.Begin(0, false, 1)
	track.Sent(0)
	track.Token(time.Second, 0, 1)
	c.Tick(time.Second, false)
	c.Tick(20*time.Second, true)
	track.Token(20*time.Second+100*time.Millisecond, 0, 1)
	track.Token(20*time.Second+200*time.Millisecond, 0, 1)
	track.End(measure.Request{Start: 0, First: time.Second, Last: 20 * time.Second, End: 20 * time.Second, Streamed: true, Chunks: 3, OutTokens: 3, FirstTokens: 1})
	got := c.Tick(20*time.Second+250*time.Millisecond, false)
	if got.Client.Gap.N != 0 || got.Client.TPOT.N != 0 || !got.Requests[0].Excluded {
		t.Errorf("gap n %d, TPOT n %d, excluded %v", got.Client.Gap.N, got.Client.TPOT.N, got.Requests[0].Excluded)
	}
	// Two tokens in the 1.25 s in which we ran.
	if rate := got.Client.OutTokensPerS; !near(rate, 3/1.25, 1e-9) {
		t.Errorf("%v tokens/s, want 3 tokens over 1.25 s", rate)
	}
}

func TestResetForgets(t *testing.T) {
	c := NewCollector(none)
	s := &stream{track: c.NewTrack(), ttft: 50 * time.Millisecond, gap: 10 * time.Millisecond, tokens: 20}
	run(c, 0, 5*time.Second, s)
	c.Reset(5 * time.Second)
	got := c.Tick(5*time.Second+tick, false).Client
	if got.OK+got.TTFT.N+got.E2E.N != 0 || got.OutTokensPerS != 0 {
		t.Errorf("after a reset: %+v", got)
	}
}

// Rates after a reset are over the time since the reset: 20 tokens per request of
// 50 ms + 19·10 ms = 240 ms.
func TestRatesAfterAReset(t *testing.T) {
	c := NewCollector(none)
	s := &stream{track: c.NewTrack(), ttft: 50 * time.Millisecond, gap: 10 * time.Millisecond, tokens: 20}
	run(c, 0, 20*time.Second, s)
	c.Reset(20 * time.Second)
	got := run(c, 20*time.Second, 25*time.Second, s).Client
	if want := 20 / 0.240; !near(got.OutTokensPerS, want, 4) || !near(got.ConcurrencyMean.V, 1, 0.05) {
		t.Errorf("%v tokens/s, %v in flight; want %v, 1", got.OutTokensPerS, got.ConcurrencyMean.V, want)
	}
}
