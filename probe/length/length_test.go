package length

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/quick"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Length{
		"1024":               {1024, Shape{}},
		"8,192":              {8192, Shape{}},
		"4k":                 {4000, Shape{}},
		"1.5K±0.3k":          {1500, Shape{Normal, 0.2}},
		"1024±256":           {1024, Shape{Normal, 0.25}},
		" 1024 +- 256 ":      {1024, Shape{Normal, 0.25}},
		"1024+/-256":         {1024, Shape{Normal, 0.25}},
		"1024~25%":           {1024, Shape{Normal, 0.25}},
		"1024±0":             {1024, Shape{}},
		"512..4096":          {2304, Shape{Uniform, 1792.0 / 2304}},
		"512…4096":           {2304, Shape{Uniform, 1792.0 / 2304}},
		"7..7":               {7, Shape{}},
		"1..4":               {2, Shape{Uniform, 0.75}},
		"lognormal:1024,0.6": {1024, Shape{LogNormal, 0.6}},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v %v, want %+v", text, got, err, want)
		}
		if back, err := Parse(got.String()); err != nil || back != got {
			t.Errorf("%q is written as %q, which reads as %+v %v", text, got, back, err)
		}
	}
	for text, want := range map[string]error{
		"": errForm, "many": errForm, "-5": errForm, "1.5": errForm, "10..": errForm, "lognormal:1024": errForm, "10±": errForm,
		"0": errRange, "99999999": errRange, "9..5": errOrder, "0..5": errOrder, "100±100": errWide, "100±250%": errWide,
		"lognormal:100,0": errSigma, "lognormal:100,4": errSigma, "99999999999999999999999999": errRange,
	} {
		if _, err := Parse(text); err != want {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// The mean moves and the shape stays; the text shows both.
func TestShapeMovesWithTheMean(t *testing.T) {
	for text, want := range map[string]string{"1024±256": "2048±512", "512..4096": "1024..8192", "lognormal:1024,0.6": "lognormal:2048,0.6", "9": "18"} {
		l, _ := Parse(text)
		l.Mean *= 2
		if l.String() != want {
			t.Errorf("%s at twice the mean is %s, want %s", text, l, want)
		}
	}
}

// Means and deviations of 200,000 draws against those of the definitions. The standard error of
// a mean is σ/√n; five of them are exceeded once in two million runs.
func TestDrawsFollowTheirDistribution(t *testing.T) {
	const n = 200_000
	cut := 0.9866 // standard deviation of a normal distribution that is cut at ±3 σ
	for text, want := range map[string]struct{ mean, deviation, low, high float64 }{
		"1024±256":  {1024, cut * 256, 256, 1792},
		"512..4096": {2304, 3585 / math.Sqrt(12), 512, 4096}, // of 3,585 whole numbers, nearly
		"1..4":      {2.5, math.Sqrt(1.25), 1, 4},
		// exp(μ + σ²/2) is the mean, its deviation is mean · √(exp(σ²) − 1)
		"lognormal:1024,0.6": {1024, 1024 * math.Sqrt(math.Exp(0.36)-1), 1, Most},
		"100±90":             {100, 0, 1, 199}, // cut at the shortest length, and alike on the other side
		"300":                {300, 0, 300, 300},
	} {
		l, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		sum, squares := 0.0, 0.0
		for range n {
			v := float64(l.Shape.Draw(l.Mean, r))
			if v < want.low || v > want.high {
				t.Fatalf("%s: drew %v", text, v)
			}
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / n
		deviation := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-want.mean) > 5*deviation/math.Sqrt(n) {
			t.Errorf("%s: mean %v, want %v", text, mean, want.mean)
		}
		if want.deviation > 0 && math.Abs(deviation/want.deviation-1) > 0.02 {
			t.Errorf("%s: deviation %v, want %v", text, deviation, want.deviation)
		}
	}
}

// Whatever mean the keys move to, every draw is a length, and equal seeds draw equal lengths.
func TestEveryDrawIsALength(t *testing.T) {
	f := func(mean uint32, width float64, seed uint64) bool {
		m := int(mean%Most) + 1
		width = math.Abs(width)
		width -= math.Floor(width)
		for _, s := range []Shape{{}, {Normal, width}, {Uniform, width}, {LogNormal, widestLog * width}} {
			a, b := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 1))
			for range 20 {
				v := s.Draw(m, a)
				if v < 1 || v > 2*Most || v != s.Draw(m, b) {
					t.Logf("%+v of mean %d: %d", s, m, v)
					return false
				}
			}
		}
		return true
	}
	if err := quick.Check(f, nil); err != nil {
		t.Error(err)
	}
}

// The lengths that are fitted lie in the middle and on either side of what is drawn.
func TestTypicalLengths(t *testing.T) {
	for text, want := range map[string][]int{
		"1024": {1024}, "512..4096": {2304, 512, 4096}, "1024±256": {1024, 768, 1280},
		"lognormal:1024,0.6": {1024, 469, 1558}, // 1024·exp(−0.18) = 855.3; × exp(∓0.6)
	} {
		l, _ := Parse(text)
		got := l.Typical()
		for i := range max(len(got), len(want)) {
			if len(got) != len(want) || got[i] != want[i] {
				t.Fatalf("%s: %v, want %v", text, got, want)
			}
		}
	}
}

// Any text is a length that reads the same again, or an error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1024", "1,024±256", "1024~25%", "512..4096", "lognormal:1024,0.6", "9..5", "±", "lognormal:1,1e9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			return
		}
		if l.Mean < 1 || l.Mean > Most {
			t.Errorf("%q: %+v", text, l)
		}
		// A deviation in percent may be no whole number of tokens: the text rounds it.
		back, err := Parse(l.String())
		if err != nil && l.Shape.Kind != Normal || err == nil && back.Mean != l.Mean {
			t.Errorf("%q is written as %q, which reads as %+v %v", text, l, back, err)
		}
		if v := l.Shape.Draw(l.Mean, rand.New(rand.NewPCG(1, 1))); v < 1 {
			t.Errorf("%q: drew %d", text, v)
		}
	})
}
