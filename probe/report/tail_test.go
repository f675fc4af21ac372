package report

import (
	"math"
	"testing"
	"time"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// hundred are 99 requests of one second and one of 101 s, which is the n-th. One
// after the other, or all at once.
func hundred(n int, atOnce bool) (all []measure.Request, until time.Duration) {
	start := 0.0
	for i := range 100 {
		r := stream(start, 20, 9.8, 101)
		if i == n {
			r = stream(start, 100_020, 9.8, 101)
		}
		all = append(all, r)
		if until = max(until, r.End); !atOnce {
			start = float64(r.End)/1e6 + 1
		}
	}
	return all, until
}

// Mean (99 × 1 s + 101 s) / 100 = 2 s, p50 1 s; p99 by linear interpolation at
// place 98.01 of 0 to 99: 1 s + 0.01 × 100 s = 2 s. The verdict names the tail.
func TestTheVerdictNamesTheTail(t *testing.T) {
	for _, c := range []struct {
		slow   int
		atOnce bool
		plan   bench.Plan
	}{
		{0, false, bench.Plan{Requests: 100}},
		{50, false, bench.Plan{Requests: 100}},
		{99, false, bench.Plan{Requests: 100}},
		{99, true, bench.Plan{Requests: 100}},
		{40, true, bench.Plan{Duration: 30 * time.Second}}, // it ends after the window
	} {
		all, until := hundred(c.slow, c.atOnce)
		c.plan.Load = frame.Load{Concurrency: 1, InputTokens: 8, OutputTokens: 101}
		s := summarise(c.plan, frames(until+tick, c.plan.Load, all, nil))
		e2e := s.LatencyMS.E2E
		for name, got := range map[string][2]float64{
			"mean": {e2e.Mean.V, 2000}, "p50": {e2e.P50.V, 1000}, "p99": {e2e.P99.V, 2000}, "max": {e2e.Max.V, 101_000},
		} {
			if math.Abs(got[0]-got[1]) > 0.001*got[1] {
				t.Errorf("slow %d, at once %v: %s %v ms, want %v", c.slow, c.atOnce, name, got[0], got[1])
			}
		}
		if len(s.Verdict) == 0 || s.Verdict[0].Rule != "e2e_tail" ||
			s.Verdict[0].Says != "a long tail: E2E max 101 s is 101 times the p50 of 1.00 s, so the mean of 2.00 s is misleading" {
			t.Errorf("slow %d, at once %v: verdicts %+v", c.slow, c.atOnce, s.Verdict)
		}
		for _, v := range s.Verdict {
			if v.Rule == "healthy" {
				t.Errorf("slow %d, at once %v: %s", c.slow, c.atOnce, v.Says)
			}
		}
	}
}
