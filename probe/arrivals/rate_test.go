package arrivals

import (
	"math"
	"testing"
	"testing/quick"
	"time"
)

func TestRatesAsText(t *testing.T) {
	for text, want := range map[string]Rate{
		"0": {}, "2.5": {To: 2.5}, "1..20/10m": {20, Ramp{1, 10 * time.Minute}}, "20..0.5/90s": {0.5, Ramp{20, 90 * time.Second}},
		"0..4/1h30m": {4, Ramp{0, 90 * time.Minute}},
	} {
		got, err := ParseRate(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := ParseRate(got.String()); err != nil || again != got {
			t.Errorf("%s is written as %s: %v", text, got, err)
		}
	}
	if text := (Rate{20, Ramp{1, 10 * time.Minute}}).String(); text != "1..20/10m" {
		t.Errorf("a ramp is written as %s", text)
	}
	if text := (Rate{4, Ramp{0, 2 * time.Hour}}).String(); text != "0..4/2h" {
		t.Errorf("a ramp is written as %s", text)
	}
	for _, text := range []string{"", "x", "NaN", "-1", "1e9", "1..20", "1..20/", "1..20/10", "1..20/-1m", "1..0/1m", "..5/1m", "1../1m", "1..2..3/1m", "-1..2/1m"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// From 1 to 5 per second within 10 s: 3 per second on average, so 30 arrivals; half-way the
// rate is 3, and 5·(1+3)/2 = 10 have come. Afterwards 5 come each second.
func TestARampByHand(t *testing.T) {
	r := Rate{5, Ramp{1, 10 * time.Second}}
	for _, c := range []struct {
		at    time.Duration
		rate  float64
		count float64
	}{{0, 1, 0}, {5 * time.Second, 3, 10}, {10 * time.Second, 5, 30}, {12 * time.Second, 5, 40}} {
		if r.At(c.at) != c.rate || r.Count(c.at) != c.count {
			t.Errorf("at %s: rate %v, %v arrivals; want %v, %v", c.at, r.At(c.at), r.Count(c.at), c.rate, c.count)
		}
		if got := r.When(c.count); (got - c.at).Abs() > 1 {
			t.Errorf("arrival %v comes at %s, want %s", c.count, got, c.at)
		}
	}
	down := Rate{1, Ramp{5, 10 * time.Second}} // 5·(5+3)/2 = 20 in the first half
	if down.Count(5*time.Second) != 20 || down.When(20) != 5*time.Second || down.When(30) != 10*time.Second || down.When(31) != 11*time.Second {
		t.Errorf("downwards: %v, %s, %s, %s", down.Count(5*time.Second), down.When(20), down.When(30), down.When(31))
	}
}

// When is the inverse of Count, and never goes back.
func TestWhenInvertsCount(t *testing.T) {
	f := func(from, to uint16, overMS uint32, n uint16) bool {
		r := Rate{float64(to%5000+1) / 10, Ramp{float64(from%5000) / 10, time.Duration(overMS%3_600_000+1) * time.Millisecond}}
		k := float64(n)
		at := r.When(k)
		// Rounded to a nanosecond, the count may be off by the rate within it.
		return math.Abs(r.Count(at)-k) <= 1e-9*max(r.From, r.To)+1e-9*k && r.When(k+1) >= at
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

// A ramp from nothing begins with its first arrival after the time in which one is due.
func TestARampFromNothing(t *testing.T) {
	r := Rate{10, Ramp{0, 20 * time.Second}}
	if r.When(0) != 0 || r.When(1) != 2*time.Second { // 10/20·t²/2 = 1 at t = 2
		t.Errorf("%s, %s", r.When(0), r.When(1))
	}
}
