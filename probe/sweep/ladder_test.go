package sweep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

// x95 is what the services of the tests are judged by.
var x95 = []slo.Target{{Text: "x", Quantile: 0.95}}

// service is a made-up service: how long a request takes at a load, and how likely a
// sample misses its level.
type service struct {
	e2eMS func(amount float64) float64
	miss  func(amount float64) float64
}

// row is what a level of n requests shows of a service.
func (s service) row(l frame.Load, n int, r *rand.Rand) level.Level {
	e2e := s.e2eMS(level.Amount(l))
	row := level.Level{Load: l, Settled: true, Held: 20e9}
	row.OK, row.E2E.N, row.E2E.Mean, row.TTFT.N, row.TTFT.P95 = n, n, e2e, n, e2e
	x := 1000 * level.Amount(l) / e2e
	if l.Rate > 0 {
		x = l.Rate
	}
	row.RequestsPerS, row.OutTokensPerS = opt.Of(x), opt.Of(x)
	over := 0
	for range n {
		if r.Float64() < s.miss(level.Amount(l)) {
			over++
		}
	}
	row.SLOs = []slo.Result{slo.Judge(x95[0], opt.Float{}, over, n)}
	return row
}

// climbed runs a ladder on a service to its end, and checks what has to hold on any.
func climbed(t *testing.T, s service, p Plan, n int, r *rand.Rand) ([]level.Level, Boundary) {
	t.Helper()
	l := newLadder(p, x95)
	rows := map[float64]level.Level{}
	visits := map[float64]int{}
	curve := func() []level.Level {
		var list []level.Level
		for _, row := range rows {
			list = append(list, row)
		}
		return level.Curve(list, p.load(1))
	}
	for steps := 0; ; steps++ {
		next, ok := l.next(curve())
		if !ok {
			return curve(), FindBoundary(curve())
		}
		visits[next.amount]++
		if steps > maxLevels || visits[next.amount] > twice || next.amount > p.Cap || next.amount <= 0 || !p.Open && next.amount != math.Trunc(next.amount) {
			t.Fatalf("step %d: %+v, visit %d", steps, next, visits[next.amount])
		}
		row := s.row(p.load(next.amount), n*visits[next.amount], r)
		rows[next.amount] = row
		if tooMuch(&row, curve()) != "" {
			l.top()
		}
	}
}

// saturating is X = N/(a + b·N): E2E grows from a by b for each stream.
func saturating(a, b float64) func(float64) float64 {
	return func(n float64) float64 { return a + b*n }
}

// limited is flat up to the limit; beyond it everybody waits in turn.
func limited(base, limit float64) func(float64) float64 {
	return func(n float64) float64 { return base * math.Max(1, n/limit) }
}

// Whatever the service and the chance, the ladder ends, stays within its cap, and asks for
// no load more than twice.
func TestLadderAlwaysEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := service{
			e2eMS: func(float64) float64 { return math.Exp(10 * r.Float64()) }, // no order at all
			miss:  func(float64) float64 { return r.Float64() },
		}
		switch r.IntN(3) {
		case 0:
			s.e2eMS = saturating(1+1000*r.Float64(), 100*r.Float64())
		case 1:
			s.e2eMS = limited(1+1000*r.Float64(), 1+300*r.Float64())
		}
		p := Plan{Load: frame.Load{Concurrency: 100}, Open: r.IntN(2) == 0, Cap: float64(1 + r.IntN(500))}
		if r.IntN(2) == 0 {
			p.From = 1 + 20*r.Float64()
			if !p.Open {
				p.From = math.Round(p.From)
			}
		}
		climbed(t, s, p, 1+r.IntN(100), r)
	}
}

// The knee of X = N/(a + b·N) is at a/b; that of a service with a limit at the limit. Neighbours
// on the ladder are at most a quarter apart.
func TestLadderFindsTheKnee(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	never := func(float64) float64 { return 0 }
	for knee := 3.0; knee < 100; knee = math.Ceil(1.3 * knee) {
		for name, e2e := range map[string]func(float64) float64{"saturating": saturating(10*knee, 10), "limited": limited(1000, knee)} {
			curve, _ := climbed(t, service{e2e, never}, Plan{Cap: 1024}, 200, r)
			k, why := FindKnee(curve)
			switch {
			case k == nil:
				t.Errorf("%s at %v: %s", name, knee, why)
			case k.Below.Amount() > knee || k.Above.Amount() < knee:
				t.Errorf("%s at %v: found %v between %v and %v", name, knee, k.At.Amount(), k.Below.Amount(), k.Above.Amount())
			}
		}
	}
}

// A service whose p95 crosses its limit at a load: with few samples near it and many far
// from it, the boundary is found within one step of an eighth in 95 of 100 runs and more.
func TestBoundaryUnderNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const runs = 300
	off := 0
	for range runs {
		truth := 2 + 100*r.Float64()
		// The share beyond the limit grows with the load, and is 5 % at the boundary.
		s := service{saturating(1000, 10), func(n float64) float64 { return min(1, 0.05*math.Pow(n/truth, 6)) }}
		_, b := climbed(t, s, Plan{Cap: 256}, 120, r)
		found := 0.0
		if b.Best != nil {
			found = b.Best.Amount()
		}
		step := max(1, found*boundaryStep)
		if found > truth+step+1 || found < truth-2*step-1 {
			off++
		}
	}
	if off > runs/20 {
		t.Errorf("%d of %d boundaries are off", off, runs)
	}
}

func TestGivenLevelsComeInTheirOrder(t *testing.T) {
	l := newLadder(Plan{Rungs: []float64{4, 1, 8, 16, 2}}, nil)
	var got []float64
	for {
		s, ok := l.next(nil)
		if !ok {
			break
		}
		if got = append(got, s.amount); s.amount == 8 {
			if !l.cutsShort() {
				t.Error("16 would be left out")
			}
			l.top()
		}
	}
	if len(got) != 4 || got[3] != 2 { // 16 is left out; 2 is less than what was too much
		t.Errorf("levels %v", got)
	}
}

// The parabola y = 3 − 2·(x − 1.5)² has its top at 1.5. Three points are too few to tell scatter
// from bend, and points on a rising line have no top.
func TestSummit(t *testing.T) {
	var x, y, line []float64
	for v := 0.0; v < 3; v += 0.5 {
		x, y, line = append(x, v), append(y, 3-2*(v-1.5)*(v-1.5)), append(line, 2*v)
	}
	if top, ok := summit(x, y); !ok || math.Abs(top-1.5) > 1e-9 {
		t.Errorf("top at %v, %v", top, ok)
	}
	if _, ok := summit(x[:3], y[:3]); ok {
		t.Error("three points have a top")
	}
	if _, ok := summit(x, line); ok {
		t.Error("a line has a top")
	}
}

// A list goes as it was given; above a load that was too much nothing is tried, however
// often that shows: 8 is too much, so 16 is left out, and 6 is not; then 5 is, and 6 again
// would be above it.
func TestGivenLevelsBelowOneThatWasTooMuch(t *testing.T) {
	l := newLadder(Plan{Rungs: []float64{8, 4, 16, 6, 5, 6, 2}}, nil)
	tooMuch := map[float64]bool{8: true, 5: true}
	var tried []float64
	cut := 0
	for {
		s, ok := l.next(nil)
		if !ok {
			break
		}
		tried = append(tried, s.amount)
		if tooMuch[s.amount] {
			if l.cutsShort() {
				cut++
			}
			l.top()
		}
		if s.amount == 8 && l.left(nil) != 5 { // 4, 6, 5, 6 and 2, as far as is known
			t.Errorf("%d left after 8", l.left(nil))
		}
	}
	if want := []float64{8, 4, 6, 5, 2}; !slices.Equal(tried, want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
	if cut != 2 || l.left(nil) != 0 {
		t.Errorf("cut short %d times, %d left", cut, l.left(nil))
	}
}
