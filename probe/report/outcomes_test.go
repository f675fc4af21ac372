package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

func TestFailuresAreInNoLatency(t *testing.T) {
	cut := stream(0, 100, 10, 5)
	cut.Class, cut.Error = measure.StreamError, "engine died"
	ours := stream(0, 100, 10, 3)
	ours.Class = measure.Cancelled
	all := []measure.Request{stream(0, 200, 10, 11), cut, ours, failed(10, measure.RateLimited, "slow down"), failed(20, measure.RateLimited, "slow down")}
	s := summarise(bench.Plan{Load: closed, Requests: 5}, frames(time.Second, closed, all, nil))
	want := measure.Counts{Sent: 5, OK: 1, Failed: 3, Cancelled: 1}
	got := s.Requests
	if got.Sent != want.Sent || got.OK != want.OK || got.Failed != want.Failed || got.Cancelled != want.Cancelled {
		t.Errorf("counts %+v", got)
	}
	if len(got.ByClass) != 2 || got.ByClass[measure.RateLimited] != 2 || got.ByClass[measure.StreamError] != 1 {
		t.Errorf("by class %v", got.ByClass)
	}
	if s.Tokens.Output != 11 || s.Tokens.PartialOutput != 8 {
		t.Errorf("tokens %+v", s.Tokens)
	}
	near(t, "output rate", s.Rates.OutputPerS, 11/0.3)
	if s.LatencyMS.TTFT.N != 1 || s.LatencyMS.Setup.N != 1 || s.LatencyMS.Gap.N != 10 {
		t.Errorf("latencies %+v", s.LatencyMS)
	}
	if len(s.Errors) != 2 || s.Errors[0] != (ErrorCount{Class: measure.RateLimited, Message: "slow down", Count: 2}) {
		t.Errorf("errors %+v", s.Errors)
	}
}

func TestASummaryDoesNotChangeWithLaterFrames(t *testing.T) {
	list := frames(time.Second, closed, []measure.Request{failed(0, measure.Timeout, "a"), failed(500, measure.Timeout, "b")}, nil)
	a := newRun(bench.Plan{Load: closed, Duration: time.Minute})
	a.Add(list[0])
	s := a.Summary()
	for _, f := range list[1:] {
		a.Add(f)
	}
	if s.Requests.ByClass[measure.Timeout] != 1 || len(s.Errors) != 1 || a.Summary().Requests.Failed != 2 {
		t.Errorf("by class %v, errors %v", s.Requests.ByClass, s.Errors)
	}
}

func TestNothingSucceeded(t *testing.T) {
	var all []measure.Request
	for i := range 20 {
		all = append(all, failed(float64(10*i), measure.HTTP5xx, "boom"))
	}
	s := summarise(bench.Plan{Load: closed, Requests: 20}, frames(time.Second, closed, all, nil))
	if s.ExitCode() != 1 || s.Requests.Failed != 20 || s.LatencyMS.TTFT.P50.OK || s.Tokens.PerChunk.OK || s.LittleRatio.OK {
		t.Errorf("exit %d, %+v", s.ExitCode(), s)
	}
	near(t, "output rate", s.Rates.OutputPerS, 0)
}

// The server loads for two seconds; the window begins with the first success.
func TestLoadingComesBeforeTheWindow(t *testing.T) {
	all := []measure.Request{failed(0, measure.Loading, "loading"), failed(1000, measure.Loading, "loading")}
	for start := 2000.0; start < 6000; start += 1000 {
		all = append(all, stream(start, 100, 100, 10)) // ends after 1000 ms
	}
	s := summarise(bench.Plan{Load: closed, Duration: 3 * time.Second, DrainFor: time.Minute}, frames(8*time.Second, closed, all, nil))
	if s.Requests.Failed != 0 || s.Requests.ByClass[measure.Loading] != 2 || s.Requests.OK != 4 || s.Requests.Sent != 6 {
		t.Errorf("counts %+v", s.Requests)
	}
	near(t, "duration", s.DurationS, 3)
	near(t, "output rate", s.Rates.OutputPerS, 10)
	hasNote(t, s, "the window starts at the first success")
	if len(s.Errors) != 0 || s.ExitCode() != 0 {
		t.Errorf("errors %v, exit %d", s.Errors, s.ExitCode())
	}
}

func TestAServerThatNeverGetsReady(t *testing.T) {
	a := newRun(bench.Plan{Load: closed, Duration: time.Second})
	f := &frame.Frame{Slice: tick, At: tick, Requests: []measure.Request{failed(0, measure.Loading, "loading")}}
	f.Load.Requested = closed
	for a.Phase() != bench.Done && f.At < 2*time.Hour {
		a.Add(f)
		f = &frame.Frame{Slice: time.Minute, At: f.At + time.Minute, Load: f.Load}
	}
	s := a.Summary()
	if a.Phase() != bench.Done || s.ExitCode() != 1 || s.Rates.OutputPerS.OK {
		t.Errorf("phase %v, %+v", a.Phase(), s.Rates)
	}
	hasNote(t, s, "still loading")
}

func TestPromptsThatAreTooLongEndTheRun(t *testing.T) {
	other := failed(0, measure.ContextLength, "another")
	all := []measure.Request{
		other, failed(10, measure.ContextLength, "too long: 9 of 8"), failed(20, measure.ContextLength, "too long: 9 of 8"),
		failed(300, measure.ContextLength, "too long: 9 of 8"),
	}
	a := newRun(bench.Plan{Load: closed, Duration: time.Minute})
	for i, f := range frames(time.Second, closed, all, nil) {
		a.Add(f)
		if i == 0 && a.Phase() != bench.Measuring {
			t.Fatalf("ended after two of them")
		}
	}
	s := a.Summary()
	if a.Phase() != bench.Done || s.ExitCode() != 1 || s.Interrupted {
		t.Errorf("phase %v, exit %d", a.Phase(), s.ExitCode())
	}
	near(t, "duration", s.DurationS, 0.305)
	hasNote(t, s, "too long: 9 of 8")
}

func TestExcludedRequestsGiveNoLatency(t *testing.T) {
	frozen := stream(0, 100, 10, 3)
	frozen.Excluded = true
	s := summarise(bench.Plan{Load: closed, Requests: 2}, frames(time.Second, closed, []measure.Request{frozen, stream(0, 50, 10, 3)}, nil))
	if s.Requests.Excluded != 1 || s.Requests.OK != 2 || s.LatencyMS.TTFT.N != 1 || s.LatencyMS.Setup.N != 1 || s.LatencyMS.Gap.N != 2 {
		t.Errorf("counts %+v, latencies %+v", s.Requests, s.LatencyMS)
	}
	hasNote(t, s, "requests excluded from latencies: 1")
}

func TestWholeRepliesAreSuccesses(t *testing.T) {
	whole := stream(0, 100, 10, 3)
	whole.Streamed, whole.HaveAnswer, whole.Chunks, whole.GapsMS = false, false, 0, nil
	whole.End = at(400)
	s := summarise(bench.Plan{Load: closed, Requests: 1}, frames(time.Second, closed, []measure.Request{whole}, nil))
	if s.Requests.OK != 1 || s.LatencyMS.TTFT.N != 0 || s.LatencyMS.E2E.N != 1 || s.Tokens.Source != "usage" {
		t.Errorf("%+v", s)
	}
	near(t, "e2e", s.LatencyMS.E2E.P50, 400)
	near(t, "output rate", s.Rates.OutputPerS, 3/0.4)
	hasNote(t, s, "were not streamed")
}

func TestSetupHasASamplePerRequest(t *testing.T) {
	fresh := stream(350, 50, 10, 3)
	fresh.Intent, fresh.Setup, fresh.Reused = at(40), at(300), false
	s := summarise(bench.Plan{Load: closed, Requests: 2}, frames(time.Second, closed, []measure.Request{fresh, stream(420, 50, 10, 3)}, nil))
	if s.LatencyMS.Setup.N != 2 {
		t.Fatalf("setup %+v", s.LatencyMS.Setup)
	}
	near(t, "setup max", s.LatencyMS.Setup.Max, 300)
	near(t, "setup min", s.LatencyMS.Setup.Min, 0)
	near(t, "client queue", s.LatencyMS.ClientQueue.Max, 10)
	near(t, "ttft", s.LatencyMS.TTFT.Max, 50)
}

func TestSourcesOfTokenCounts(t *testing.T) {
	a, b := stream(0, 50, 10, 3), stream(0, 50, 10, 3)
	b.Source = measure.Chunks
	s := summarise(bench.Plan{Load: closed, Requests: 2}, frames(time.Second, closed, []measure.Request{a, b}, nil))
	if s.Tokens.Source != "mixed" {
		t.Errorf("source %q", s.Tokens.Source)
	}
	hasNote(t, s, "estimates")
}

func TestLongPromptsAreInNoStatistic(t *testing.T) {
	long := stream(0, 500, 10, 3)
	long.Long = true
	s := summarise(bench.Plan{Load: closed, Requests: 1}, frames(time.Second, closed, []measure.Request{long, stream(0, 50, 10, 3)}, nil))
	if s.Requests.Sent != 1 || s.LatencyMS.TTFT.N != 1 {
		t.Errorf("counts %+v", s.Requests)
	}
}

// A cap on spending takes the load away in the middle of the run.
func TestTheLoadIsTakenAway(t *testing.T) {
	all := []measure.Request{stream(0, 50, 10, 3)}
	s := summarise(bench.Plan{Load: closed, Requests: 100}, frames(2*time.Second, closed, all, func(f *frame.Frame) {
		if f.At > time.Second {
			f.Load.Requested.Concurrency = 0
		}
		if f.At == time.Second {
			f.Events = []frame.Event{{Kind: frame.EventNote, Text: "stopped: the cap is 30"}}
		}
	}))
	near(t, "duration", s.DurationS, 1.25)
	hasNote(t, s, "the load was removed")
	hasNote(t, s, "the cap is 30")
}

func TestInterrupted(t *testing.T) {
	a := newRun(bench.Plan{Load: closed, Duration: time.Minute})
	cut := stream(0, 100, 100, 10) // until it was cancelled at 1000 ms
	cut.Class = measure.Cancelled
	list := frames(1250*time.Millisecond, closed, []measure.Request{stream(0, 100, 10, 11), cut}, nil)
	for _, f := range list[:3] {
		a.Add(f)
	}
	a.Interrupt()
	for _, f := range list[3:] {
		a.Add(f)
	}
	s := a.Summary()
	if !s.Interrupted || s.ExitCode() != 130 || a.Phase() != bench.Done {
		t.Errorf("interrupted %v, exit %d, phase %v", s.Interrupted, s.ExitCode(), a.Phase())
	}
	near(t, "duration", s.DurationS, 0.75)
	near(t, "output rate", s.Rates.OutputPerS, 11/0.75)
	if s.Requests.OK != 1 || s.Requests.Cancelled != 1 || s.Tokens.PartialOutput != 10 {
		t.Errorf("counts %+v", s.Requests)
	}
}

// A run by number does not sit out a wait of hours: it ends with the reason. A minute, as of
// a quota per minute, it waits for; and a run by the clock ends by its clock.
func TestLongWaitEndsRunByNumber(t *testing.T) {
	try := func(plan bench.Plan, wait time.Duration) run {
		list := frames(time.Second, closed, []measure.Request{failed(500, measure.RateLimited, "quota")}, nil)
		a := newRun(plan)
		for i, f := range list {
			f.Client.InFlight = 0
			if i == len(list)-1 {
				f.Client.Retrying, f.Client.RetryAt = 1, f.At+wait
			}
			a.Add(f)
		}
		return a
	}
	byNumber := bench.Plan{Load: closed, Requests: 10}
	a := try(byNumber, 3*time.Hour)
	if a.Phase() != bench.Draining {
		t.Errorf("3 h: phase %v, want draining", a.Phase())
	}
	if s := a.Summary(); s.ExitCode() != 1 || !slices.Contains(s.Notes, "ended early: the server asked to wait 3 h before the next request") {
		t.Errorf("3 h: exit %d, notes %q", s.ExitCode(), s.Notes)
	}
	if s := a.Summary(); s.EndedEarly != "the server asked to wait 3 h before the next request" || s.Interrupted || !strings.Contains(s.Text(80, false), " · ENDED EARLY\n") {
		t.Errorf("3 h: ended early %q, %s", s.EndedEarly, s.Text(80, false))
	}
	if a := try(byNumber, time.Minute); a.Phase() != bench.Measuring {
		t.Errorf("a minute: phase %v, want measuring", a.Phase())
	}
	if a := try(bench.Plan{Load: closed, Duration: time.Hour}, 3*time.Hour); a.Phase() != bench.Measuring {
		t.Errorf("by the clock: phase %v, want measuring", a.Phase())
	}
}
