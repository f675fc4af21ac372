package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/quick"
	"time"

	"sonde/probe/arrivals"
)

func TestConstantArrivalsKeepTheirSchedule(t *testing.T) {
	f := func(n uint16, centi uint16) bool {
		rate := float64(centi%10_000+1) / 100
		p := newPacer(time.Second, rate, arrivals.Constant, nil)
		count := int(n%2000) + 1
		var at time.Duration
		for range count {
			at = p.next()
		}
		want := time.Second + time.Duration(float64(count-1)/rate*1e9)
		return (at - want).Abs() <= 2*time.Nanosecond
	}
	if err := quick.Check(f, nil); err != nil {
		t.Error(err)
	}
}

// Poisson arrivals: gaps have mean 1/rate and, being exponential, a standard
// deviation as large as the mean.
func TestPoissonArrivals(t *testing.T) {
	const n, rate = 20_000, 50.0
	p := newPacer(0, rate, arrivals.Poisson, rand.New(rand.NewPCG(1, 2)))
	var last time.Duration
	var sum, squares float64
	for range n {
		at := p.next()
		if at < last {
			t.Fatal("arrivals go back in time")
		}
		gap := (at - last).Seconds()
		sum, squares, last = sum+gap, squares+gap*gap, at
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	if math.Abs(mean*rate-1) > 0.03 || math.Abs(deviation*rate-1) > 0.05 {
		t.Errorf("mean %v, deviation %v; want %v", mean, deviation, 1/rate)
	}
	again := newPacer(0, rate, arrivals.Poisson, rand.New(rand.NewPCG(1, 2)))
	var repeated time.Duration
	for range n {
		repeated = again.next()
	}
	if repeated != last {
		t.Error("the same seed gives another schedule")
	}
}
