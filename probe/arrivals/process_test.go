package arrivals

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

func TestProcessesByName(t *testing.T) {
	for text, want := range map[string]Process{
		"constant": {0}, "poisson": {1}, "gamma:2.5": {2.5}, "gamma:0.5": {0.5}, "gamma:20": {20},
	} {
		got, err := Parse(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"gamma:1": "poisson", "gamma:0": "constant", "gamma:2.50": "gamma:2.5"} {
		if got, err := Parse(text); err != nil || got.String() != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "gamma", "gamma:", "gamma:-1", "gamma:NaN", "gamma:Inf", "gamma:20.1", "uniform", "2"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// Recordings have always held true or false for the two processes that there were.
func TestRecordedProcesses(t *testing.T) {
	for raw, want := range map[string]Process{
		"true": Poisson, "false": Constant, `"gamma:4"`: {4}, `"poisson"`: Poisson, `"constant"`: Constant,
	} {
		var got Process
		if err := json.Unmarshal([]byte(raw), &got); err != nil || got != want {
			t.Errorf("%s is read as %v, %v", raw, got, err)
		}
	}
	for p, want := range map[Process]string{Poisson: "true", Constant: "false", {2.5}: `"gamma:2.5"`} {
		if raw, err := json.Marshal(p); err != nil || string(raw) != want {
			t.Errorf("%v is written as %s, %v", p, raw, err)
		}
	}
	var p Process
	if json.Unmarshal([]byte(`7`), &p) == nil || json.Unmarshal([]byte(`"x"`), &p) == nil {
		t.Error("nonsense is read")
	}
}

// Of n gaps the mean has a standard error of CV/√n, and the variance of CV²·√((κ−1)/n), where
// the kurtosis κ of a gamma distribution is 3 + 6·CV². Four standard errors leave one in
// 16,000 to chance, and the seed is fixed.
func TestGapsHaveMeanAndVariation(t *testing.T) {
	const n, z = 400_000, 4
	for _, cv := range []float64{0.25, 0.5, 0.9, 1, 1.5, 2, 4} {
		r := rand.New(rand.NewPCG(3, 4))
		var sum, squares float64
		for range n {
			gap := Process{cv}.Gap(r)
			if gap < 0 || math.IsNaN(gap) {
				t.Fatalf("CV %v: a gap of %v", cv, gap)
			}
			sum, squares = sum+gap, squares+(gap-1)*(gap-1)
		}
		mean, variance := sum/n, squares/n
		if off := z * cv / math.Sqrt(n); math.Abs(mean-1) > off {
			t.Errorf("CV %v: mean %v, want 1 ± %v", cv, mean, off)
		}
		if off := z * cv * cv * math.Sqrt((2+6*cv*cv)/n); math.Abs(variance-cv*cv) > off {
			t.Errorf("CV %v: variance %v, want %v ± %v", cv, variance, cv*cv, off)
		}
	}
}

// The gamma distribution of shape 1/4 (CV 2) in its quantiles, from the tables of the
// regularised incomplete gamma function: P(1/4, x) is 0.5 at x = 0.043674 and 0.9 at
// x = 0.750393. A share of n draws scatters by √(q(1−q)/n).
func TestBurstsHaveTheShapeOfAGammaDistribution(t *testing.T) {
	const n, z = 200_000, 4
	r := rand.New(rand.NewPCG(5, 6))
	quantiles := map[float64]float64{0.5: 4 * 0.043674, 0.9: 4 * 0.750393}
	below := map[float64]int{}
	for range n {
		gap := Process{2}.Gap(r)
		for q, at := range quantiles {
			if gap < at {
				below[q]++
			}
		}
	}
	for q := range quantiles {
		if share, off := float64(below[q])/n, z*math.Sqrt(q*(1-q)/n); math.Abs(share-q) > off {
			t.Errorf("%.4f of the gaps are below quantile %v, want ± %v", share, q, off)
		}
	}
}
