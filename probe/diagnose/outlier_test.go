package diagnose

import (
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// outlying is a scene in which one request, a second before its end, takes 60 s of
// which so much is TTFT; change may spoil it.
func outlying(ttft time.Duration, change func(r *measure.Request)) *Judge {
	return scene(func(f *frame.Frame) {
		f.Requests[0].ID = 100 + f.Seq
		if f.At != 29*time.Second {
			return
		}
		r := &f.Requests[0]
		r.Start = r.End - time.Minute
		r.First = r.Start + ttft
		if change != nil {
			change(r)
		}
	})
}

func TestTheSlowestTellsWhatItsTimeWentInto(t *testing.T) {
	for _, c := range []struct {
		judge *Judge
		why   string
	}{
		{outlying(58*time.Second, nil), "waited 58.0 s for its first token"},
		{outlying(time.Second, func(r *measure.Request) { r.OutTokens, r.RequestedOut = 6000, 6000 }), "has a response of 6000 tokens; the mean is 304"}, // (119 × 256 + 6000) / 120
		{outlying(time.Second, func(r *measure.Request) { r.GapsMS = []float32{12, 50000} }), "stood still for 50.0 s"},
		{outlying(time.Second, nil), "got its tokens slowly throughout"},
		{outlying(58*time.Second, func(r *measure.Request) { r.ID = 1 }), "was the very first: a cold start"},
	} {
		// 119 of 2.75 s and one of 60 s: the mean is 3.2 s, 1.17 times the median.
		none(t, c.why, c.judge, "e2e_tail")
		if got := c.judge.history.run.why(60_000); got != c.why {
			t.Errorf("%q, want %q", got, c.why)
		}
	}
}

func TestTailOfSummaries(t *testing.T) {
	for _, c := range []struct {
		n              int
		mean, p50, max float64 // ms
		want           bool
	}{
		{100, 2000, 1000, 101_000, true},
		{19, 2000, 1000, 101_000, false}, // too few
		{100, 1200, 1000, 21_000, false}, // it hardly matters to the mean
		{100, 2000, 1000, 9_000, false},  // not far
		{100, 20, 10, 900, false},        // nobody minds
	} {
		v, got := Tail(measure.Summary{N: c.n, Mean: c.mean, P50: c.p50, Max: c.max})
		if got != c.want || got && v.Rule != "e2e_tail" {
			t.Errorf("%+v: %v %+v", c, got, v)
		}
	}
}
