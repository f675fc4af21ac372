package measure

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/quick"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// throughFile writes a Dist as JSON and reads it again.
func throughFile(t *testing.T, d *Dist) *Dist {
	t.Helper()
	raw, err := json.Marshal(d.Distribution())
	if err != nil {
		t.Fatal(err)
	}
	var read Distribution
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	out, err := read.Dist()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// However samples are spread over files, whether exact, in a histogram or compacted there, their
// sum is the same as one histogram of them all, to the last bit of every quantile. All else is
// exact to the rounding of sums.
func TestFilesAddUpToOneDist(t *testing.T) {
	f := func(seed uint64) bool {
		r := rand.New(rand.NewPCG(seed, 7))
		parts := 1 + r.IntN(5)
		exact, one, merged := NewDist(1<<20), NewDist(0), NewDist(0)
		for range parts {
			part := NewDist([]int{0, 100, 1 << 20}[r.IntN(3)])
			for range 1 + r.IntN(2000) {
				ms := math.Exp(r.NormFloat64()*2 + 3)
				if r.IntN(10) == 0 {
					ms = 0 // the set-up of a reused connection
				}
				for _, d := range []*Dist{exact, one, part} {
					d.Add(ms)
				}
			}
			if r.IntN(2) == 0 {
				part.Compact()
			}
			merged.Merge(throughFile(t, part))
		}
		got, want, truth := merged.Summary(), one.Summary(), exact.Summary()
		for q := 0.0; q <= 1; q += 0.01 {
			a, _ := merged.Quantile(q)
			b, _ := one.Quantile(q)
			c, _ := exact.Quantile(q)
			if a != b || !near(a, c, 0.001*c+0.001) {
				t.Logf("quantile %v: %v, one histogram %v, samples %v", q, a, b, c)
				return false
			}
		}
		return got.N == want.N && got.Min == truth.Min && got.Max == truth.Max &&
			near(got.Mean, truth.Mean, 1e-12*truth.Mean) && near(got.Std, truth.Std, 1e-9*truth.Std)
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 60}); err != nil {
		t.Error(err)
	}
}

// Four answers of 1024 tokens and one of 0: the histogram holds tokens, not thousandths of them. Any
// reader of HdrHistogram's encoding finds them.
func TestTokensAreWhole(t *testing.T) {
	d := NewTokenDist(0)
	for _, n := range []float64{1024, 1024, 0, 1024, 1024} {
		d.Add(n)
	}
	s := throughFile(t, d).Summary()
	if s.N != 5 || s.Min != 0 || s.P50 != 1024 || s.Max != 1024 || s.Mean != 819.2 {
		t.Errorf("%+v", s)
	}
	file := d.Distribution()
	h, err := hdrhistogram.Decode([]byte(file.HDR))
	if err != nil || h.TotalCount() != 5 || h.ValueAtPercentile(100) != 1024 || h.ValueAtPercentile(10) != 0 || file.Unit != Tokens || file.Digits != 3 {
		t.Errorf("%v, %+v, %v", h, file, err)
	}
	if NewDist(10).Distribution() != nil {
		t.Error("a distribution of nothing")
	}
}

func TestDamagedDistributionsAreRefused(t *testing.T) {
	d := NewDist(10)
	d.Add(12.5)
	whole := d.Distribution()
	coarse, _ := hdrhistogram.New(1, 1000, 1).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	for want, spoil := range map[string]func(*Distribution){
		"unknown unit":             func(s *Distribution) { s.Unit = "fortnight" },
		"damaged":                  func(s *Distribution) { s.HDR = s.HDR[:20] },
		"another range":            func(s *Distribution) { s.HDR = string(coarse) },
		"another number of sample": func(s *Distribution) { s.N = 2 },
	} {
		s := *whole
		spoil(&s)
		if _, err := s.Dist(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Of 1, 2, 3, 4 and 5 ms two are above 3, whether they are kept or counted.
func TestAbove(t *testing.T) {
	for _, exact := range []int{0, 10} {
		d := NewDist(exact)
		for ms := 1.0; ms <= 5; ms++ {
			d.Add(ms)
		}
		if n, none := d.Above(3), d.Above(5); n != 2 || none != 0 {
			t.Errorf("exact up to %d: %d above 3, %d above 5", exact, n, none)
		}
	}
}
