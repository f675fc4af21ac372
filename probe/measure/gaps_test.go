package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Few gaps stay as they are, in their order.
func TestFewGapsStayExact(t *testing.T) {
	gaps := []float32{14, 0, 900, 14}
	ms, counts := CompactGaps(gaps)
	if counts != nil || len(ms) != 4 || ms[0] != 14 || ms[1] != 0 || ms[2] != 900 || ms[3] != 14 {
		t.Errorf("%v %v", ms, counts)
	}
	gaps[0] = 1
	if ms[0] != 14 {
		t.Error("the memory is shared")
	}
}

// Many gaps are rounded by at most half a percent, none is lost, and a 0 stays a 0.
func TestManyGapsAreRoundedToOnePercent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	gaps := make([]float32, 3*maxSliceGaps)
	sum, zeros := 0.0, 0
	for i := range gaps {
		if i%10 != 0 {
			gaps[i] = float32(math.Exp(rng.NormFloat64()*2 + 2))
		} else {
			zeros++
		}
		sum += float64(gaps[i])
	}
	c := Client{}
	c.SliceGaps, c.SliceGapCounts = CompactGaps(gaps)
	if len(c.SliceGaps) > gapSteps+1 || len(c.SliceGaps) != len(c.SliceGapCounts) {
		t.Fatalf("%d values with %d counts", len(c.SliceGaps), len(c.SliceGapCounts))
	}
	n, got := 0, 0.0
	for ms, count := range c.EachSliceGap() {
		if ms == 0 && count != zeros {
			t.Errorf("%d gaps of 0, want %d", count, zeros)
		}
		n += count
		got += ms * float64(count)
	}
	if n != len(gaps) || math.Abs(got-sum) > 0.005*sum {
		t.Errorf("%d gaps with a sum of %v, want %d with %v", n, got, len(gaps), sum)
	}
	for _, ms := range []float64{0.001, 0.5, 14, 999, 3.6e6} {
		if back := float64(gapOfCell(gapCell(ms))); math.Abs(back-ms) > 0.00501*ms {
			t.Errorf("%v ms is counted as %v", ms, back)
		}
	}
	if gapCell(1e9) >= gapSteps+1 {
		t.Error("a gap beyond the scale has no cell")
	}
}

// An endless answer: 16,384 gaps of 10 ms stay as they are; of the 83,616 after them, 80,000 are 20 ms
// and 3,616 are 5 s. All are counted, each within 0.5 %.
func TestGapsOfAnEndlessAnswer(t *testing.T) {
	r := Request{Streamed: true}
	for i := range 100_000 {
		gap := 10 * time.Millisecond
		switch {
		case i >= 96_384:
			gap = 5 * time.Second
		case i >= gapsKept:
			gap = 20 * time.Millisecond
		}
		r.AddGap(gap)
	}
	if len(r.GapsMS) != 16_384 || len(r.LaterGapsMS) != 2 || len(r.LaterGapCounts) != 2 {
		t.Fatalf("%d gaps one by one, then %v × %v", len(r.GapsMS), r.LaterGapsMS, r.LaterGapCounts)
	}
	n, sum, longest := 0, 0.0, 0.0
	for ms, many := range r.EachGap() {
		n, sum, longest = n+many, sum+ms*float64(many), max(longest, ms)
	}
	want := 16_384*10.0 + 80_000*20 + 3616*5000
	if n != 100_000 || math.Abs(sum-want) > 0.005*want || math.Abs(longest-5000) > 25 {
		t.Errorf("%d gaps, %v ms together, the longest %v; want 100000, %v, 5000", n, sum, longest, want)
	}
	d := Latencies[*Dist]{}
	for _, m := range d.All() {
		*m = NewDist(100)
	}
	r.Observe(&d)
	if s := d.Gap.Summary(); s.N != 100_000 || math.Abs(s.P50-20) > 0.2 || math.Abs(s.P99-5000) > 50 || s.Min != 10 {
		t.Errorf("%+v", s)
	}
}

// However long gaps scatter, the memory of one request is that of the kept gaps and of the grid.
func TestMemoryOfAnEndlessAnswer(t *testing.T) {
	r := Request{}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1_000_000 {
		r.AddGap(time.Duration(math.Exp(rng.NormFloat64()*8) * 1e6))
	}
	if bytes := 4*cap(r.GapsMS) + 4*cap(r.LaterGapsMS) + 8*cap(r.LaterGapCounts); bytes > 160_000 {
		t.Errorf("%d bytes", bytes)
	}
}
