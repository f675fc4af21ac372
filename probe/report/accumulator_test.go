package report

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

func near(t *testing.T, what string, got Number, want float64) {
	t.Helper()
	if !got.OK || math.Abs(got.V-want) > 1e-4*max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func hasNote(t *testing.T, s Summary, part string) {
	t.Helper()
	if !noteWith(s, part) {
		t.Errorf("no note says %q: %q", part, s.Notes)
	}
}

func noteWith(s Summary, part string) bool {
	return slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, part) })
}

// Four streams answer 100 tokens a second each, request after request, for the
// whole time. Whatever part of them a window covers, the rate is 400 tokens per
// second: requests that overlap its edges are credited by their tokens.
func TestRatesAreOfTheWindow(t *testing.T) {
	var all []measure.Request
	for start := 0.0; start < 13000; start += 1000 {
		for range 4 {
			// Tokens 5, 15, … 995 ms after the start.
			r := stream(start, 5, 10, 100)
			r.End = at(start + 1000)
			all = append(all, r)
		}
	}
	plan := bench.Plan{Load: closed, WarmupFor: 2500 * time.Millisecond, Duration: 10 * time.Second, DrainFor: time.Minute}
	s := summarise(plan, frames(14*time.Second, closed, all, nil))
	near(t, "duration", s.DurationS, 10)
	near(t, "output rate", s.Rates.OutputPerS, 400)
	near(t, "input rate", s.Rates.InputPerS, 32)
	near(t, "total rate", s.Rates.TotalPerS, 432)
	near(t, "TPM", s.Rates.OutputTPM, 24000)
	near(t, "concurrency", s.ConcurrencyMean, 4)
	near(t, "per stream", s.Rates.OutputPerSStream, 100)
	// Four half ones before 3 s, 36 whole ones, four half ones from 12 s on.
	near(t, "requests rate", s.Rates.RequestsPerS, 4)
	// Of 990 ms to the last token, at four a second and four in flight.
	near(t, "Little", s.LittleRatio, 4/(4*0.995))
	// Ten starts (3 … 12 s) lie in the window; the rest is warm-up.
	if s.Requests.OK != 40 || s.Requests.Sent != 40 || s.Tokens.Output != 4000 || s.LatencyMS.TTFT.N != 40 {
		t.Errorf("counts %+v, %d tokens", s.Requests, s.Tokens.Output)
	}
	hasNote(t, s, "warm-up: 12 requests")
}

// A request that is still running when the window closes counts in the
// latencies, but only with what it did so far in the rates.
func TestTheDrainCountsInLatenciesOnly(t *testing.T) {
	all := []measure.Request{stream(0, 500, 100, 11)} // last token at 1500 ms
	s := summarise(bench.Plan{Load: closed, Duration: time.Second, DrainFor: time.Minute}, frames(3*time.Second, closed, all, nil))
	near(t, "e2e", s.LatencyMS.E2E.P50, 1500)
	near(t, "output rate", s.Rates.OutputPerS, 6) // at 500, 600 … 1000 ms
	near(t, "requests rate", s.Rates.RequestsPerS, 1000.0/1500)
	near(t, "concurrency", s.ConcurrencyMean, 1)
	if s.Requests.OK != 1 || s.Tokens.Output != 11 {
		t.Errorf("counts %+v", s.Requests)
	}
}

func TestTheCountOfRequestsEndsTheWindow(t *testing.T) {
	all := []measure.Request{stream(0, 100, 10, 11), stream(200, 100, 10, 11)}
	a := newRun(bench.Plan{Load: closed, Requests: 2, Duration: time.Minute})
	for _, f := range frames(time.Second, closed, all, nil) {
		a.Add(f)
	}
	s := a.Summary()
	near(t, "duration", s.DurationS, 0.4)
	near(t, "output rate", s.Rates.OutputPerS, 22/0.4)
	near(t, "concurrency", s.ConcurrencyMean, 1)
	near(t, "Little", s.LittleRatio, 1/(2/0.4*0.2))
	if a.Phase() != bench.Done {
		t.Errorf("phase %v", a.Phase())
	}
}

func TestWarmupByRequestsIsDrainedAndCounted(t *testing.T) {
	all := []measure.Request{
		stream(0, 100, 10, 11), stream(0, 100, 10, 11), // warm-up, ends at 200
		stream(260, 50, 10, 11), // after the Frame at 250, in which all was quiet
	}
	s := summarise(bench.Plan{Load: closed, WarmupRequests: 2, Requests: 1}, frames(time.Second, closed, all, nil))
	if s.Requests.Sent != 1 || s.Requests.OK != 1 {
		t.Errorf("counts %+v", s.Requests)
	}
	near(t, "ttft", s.LatencyMS.TTFT.Max, 50)
	near(t, "duration", s.DurationS, 0.16) // 250 to 410 ms
	hasNote(t, s, "warm-up: 2 requests")
}

// Chunks of four tokens: figures per token come from the count of tokens.
func TestSeveralTokensPerChunk(t *testing.T) {
	r := stream(0, 100, 40, 10)
	r.OutTokens = 40
	s := summarise(bench.Plan{Load: closed, Requests: 1}, frames(time.Second, closed, []measure.Request{r}, nil))
	near(t, "tpot", s.LatencyMS.TPOT.P50, 360.0/39)
	near(t, "gap", s.LatencyMS.Gap.P50, 40)
	near(t, "per chunk", s.Tokens.PerChunk, 4)
	hasNote(t, s, "4.0 tokens per chunk")
}

func TestOneTokenHasNoTPOT(t *testing.T) {
	var all []measure.Request
	for i := range 20 {
		all = append(all, stream(float64(200*i), 200, 0, 1))
	}
	s := summarise(bench.Plan{Load: closed, Requests: 20}, frames(5*time.Second, closed, all, nil))
	l := &s.LatencyMS
	if l.TPOT.N != 0 || l.TPOT.P50.OK || l.Gap.N != 0 || l.Gap.Max.OK || s.Rates.OutputPerSStream.OK {
		t.Errorf("TPOT %+v, gap %+v", l.TPOT, l.Gap)
	}
	near(t, "ttft", l.TTFT.P50, 200)
	near(t, "e2e", l.E2E.P50, 200)
	near(t, "rate", s.Rates.OutputPerS, 20/4.0)
}

// An open loop at 10 per second under a cap of one stream that takes 500 ms:
// latency from the schedule grows, and the rate achieved is 2.
func TestOpenLoopFromSchedule(t *testing.T) {
	load := frame.Load{Concurrency: 1, Rate: 10, InputTokens: 8, OutputTokens: 1}
	var all []measure.Request
	for i := range 8 {
		r := stream(float64(500*i), 500, 0, 1)
		r.Intent = at(float64(100 * i))
		all = append(all, r)
	}
	s := summarise(bench.Plan{Load: load, Requests: 8}, frames(5*time.Second, load, all, nil))
	near(t, "service time", s.LatencyMS.E2E.Max, 500)
	near(t, "schedule mean", s.LatencyMS.FromSchedule.Mean, 1900)
	near(t, "schedule p50", s.LatencyMS.FromSchedule.P50, 1900)
	near(t, "schedule p99", s.LatencyMS.FromSchedule.P99, 3272)
	near(t, "client queue mean", s.LatencyMS.ClientQueue.Mean, 1400)
	near(t, "requests rate", s.Rates.RequestsPerS, 2)
	hasNote(t, s, "2.0 of 10.0 requests per second")
	if s.Load.Mode != "open" || s.Load.Rate.V != 10 {
		t.Errorf("load %+v", s.Load)
	}
}

func TestPercentilesAreMarkedWeak(t *testing.T) {
	var all []measure.Request
	for i, ttft := range []float64{10, 20, 30, 40, 1000} {
		all = append(all, stream(float64(i), ttft, 0, 1))
	}
	q := summarise(bench.Plan{Load: closed, Requests: 5}, frames(2*time.Second, closed, all, nil)).LatencyMS.TTFT
	near(t, "p50", q.P50, 30)
	near(t, "p99", q.P99, 961.6)
	if !slices.Equal(q.Weak, []string{"p90", "p95", "p99", "p999"}) || q.N != 5 {
		t.Errorf("weak %q, n %d", q.Weak, q.N)
	}
}
