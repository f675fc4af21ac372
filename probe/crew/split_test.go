package crew

import (
	"math"
	"testing"
	"testing/quick"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
)

// The parts of a load add up to it, and no two workers differ by more than one stream.
func TestPartsAddUp(t *testing.T) {
	f := func(streams, workers uint16, centi uint16) bool {
		of := int(workers%50) + 1
		for _, rate := range []float64{0, float64(centi+1) / 100} {
			l := frame.Load{Concurrency: int(streams), Rate: rate, InputTokens: 7}
			sum, sumRate, least, most := 0, 0.0, math.MaxInt, 0
			for nth := range of {
				p, _ := part(l, nth, of)
				sum, sumRate = sum+p.Concurrency, sumRate+p.Rate
				least, most = min(least, p.Concurrency), max(most, p.Concurrency)
				if p.InputTokens != 7 {
					return false
				}
			}
			if sum != l.Concurrency || math.Abs(sumRate-rate) > 1e-9*rate || most-least > 1 {
				return false
			}
		}
		return true
	}
	if err := quick.Check(f, nil); err != nil {
		t.Error(err)
	}
}

// Four workers at 8 requests/s begin 125 ms after each other and send two a second each: together one
// every 125 ms.
func TestConstantArrivalsOfWorkersStayConstant(t *testing.T) {
	for nth := range 4 {
		p, later := part(frame.Load{Rate: 8, Concurrency: 100}, nth, 4)
		if want := time.Duration(nth) * 125 * time.Millisecond; p.Rate != 2 || later != want {
			t.Errorf("worker %d: %v/s after %v, want 2/s after %v", nth, p.Rate, later, want)
		}
	}
}

// After 3 of 10 minutes a ramp from 1 to 21 is at 7: the rest goes from 7 to 21 in 7 minutes. A worker that
// joins then does not begin it anew.
func TestRestOfARamp(t *testing.T) {
	l := frame.Load{Rate: 21, Ramp: arrivals.Ramp{From: 1, Over: 10 * time.Minute}}
	if got := rest(l, 3*time.Minute).Ramp; math.Abs(got.From-7) > 1e-9 || got.Over != 7*time.Minute {
		t.Errorf("%+v", got)
	}
	if got := rest(l, 11*time.Minute); got.Ramp != (arrivals.Ramp{}) || got.Rate != 21 {
		t.Errorf("after its end: %+v", got)
	}
	if p, _ := part(l, 1, 4); p.Ramp.From != 0.25 || p.Rate != 5.25 || p.Ramp.Over != l.Ramp.Over {
		t.Errorf("a quarter of it: %+v", p)
	}
}

// What each may have begun in the end is what it has begun and a share of what is left.
func TestBudgets(t *testing.T) {
	got := budgets(10, []int64{5, 0, 7})
	for i, want := range []int64{9, 3, 10} {
		if got[i] != want {
			t.Errorf("%v, want [9 3 10]", got)
			break
		}
	}
}

// The exchange that took the least time is the truest: the worker's clock is 5 s ahead, and one
// of the answers was held up for 90 ms on its way back.
func TestOffsetOfAClock(t *testing.T) {
	const ms = time.Millisecond
	var o offset
	if _, _, known := o.best(); known {
		t.Error("known without an exchange")
	}
	o.add(100*ms, 200*ms, 5105*ms) // 5 ms there, 95 ms back: off by 45 ms
	o.add(300*ms, 302*ms, 5301*ms)
	if ahead, trip, _ := o.best(); ahead != 5*time.Second || trip != 2*ms {
		t.Errorf("%v ahead by an exchange of %v", ahead, trip)
	}
	for range samplesKept { // the good one is forgotten: clocks drift
		o.add(400*ms, 410*ms, 5406*ms)
	}
	if ahead, _, _ := o.best(); ahead != 5001*ms {
		t.Errorf("%v ahead", ahead)
	}
}
