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
		p := newPacer(time.Second, time.Second, arrivals.Rate{To: rate}, arrivals.Constant, nil)
		count := int(n%2000) + 1
		var at time.Duration
		for range count {
			at = p.next().At
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
	p := newPacer(0, 0, arrivals.Rate{To: rate}, arrivals.Poisson, rand.New(rand.NewPCG(1, 2)))
	var last time.Duration
	var sum, squares float64
	for range n {
		at := p.next().At
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
	again := newPacer(0, 0, arrivals.Rate{To: rate}, arrivals.Poisson, rand.New(rand.NewPCG(1, 2)))
	var repeated time.Duration
	for range n {
		repeated = again.next().At
	}
	if repeated != last {
		t.Error("the same seed gives another schedule")
	}
}

// Ten stretches of a ramp from 2 to 20 per second within 100 s, and the ten seconds after it. In
// each the expected number is the area below the line, and of Poisson arrivals it scatters by
// its square root: four of them leave one in 16,000 to chance, and the seed is fixed. Gaps
// of CV 2 scatter twice as much.
func TestRandomArrivalsFollowTheRamp(t *testing.T) {
	rate := arrivals.Rate{To: 20, Ramp: arrivals.Ramp{From: 2, Over: 100 * time.Second}}
	for _, cv := range []float64{1, 2} {
		const runs = 50
		var counts [11]int
		for run := range runs {
			p := newPacer(0, 0, rate, arrivals.Process{CV: cv}, rand.New(rand.NewPCG(7, uint64(run))))
			for at := p.next().At; at < 110*time.Second; at = p.next().At {
				counts[at/(10*time.Second)]++
			}
		}
		for i, n := range counts {
			from := 2 + 1.8*float64(i) // per second, at the beginning of the stretch
			want := runs * 10 * (from + 0.9)
			if i == 10 {
				want = runs * 10 * 20
			}
			if off := 4 * cv * math.Sqrt(want); math.Abs(float64(n)-want) > off {
				t.Errorf("CV %v, stretch %d: %d arrivals, want %.0f ± %.0f", cv, i, n, want, off)
			}
		}
	}
}

// From 0 to 10 per second within 20 s: n arrivals have come after √(4·n) s. The 100 of the ramp are
// followed by one every 100 ms.
func TestConstantArrivalsFollowTheRamp(t *testing.T) {
	p := newPacer(0, 0, arrivals.Rate{To: 10, Ramp: arrivals.Ramp{Over: 20 * time.Second}}, arrivals.Constant, nil)
	for n := range 120 {
		want := time.Duration(math.Sqrt(4*float64(n)) * float64(time.Second))
		if n > 100 {
			want = 20*time.Second + time.Duration(n-100)*100*time.Millisecond
		}
		if at := p.next().At; (at - want).Abs() > 2*time.Nanosecond {
			t.Errorf("arrival %d comes at %s, want %s", n, at, want)
		}
	}
}
