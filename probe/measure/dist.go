package measure

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The histogram behind a Dist that has outgrown its exact samples spans 1 µs to
// one hour. Three significant digits put every quantile within 0.1 % and take
// 188 kB; two put it within 1 % and take 22 kB.
const (
	histMinUS    = 1
	histMaxUS    = int64(3600 * 1e6)
	fineDigits   = 3
	coarseDigits = 2
	usPerMS      = 1000
)

// Dist collects latency samples in milliseconds. Up to a cap it keeps them all
// and its quantiles are exact; beyond it they come from a histogram. Mean, deviation,
// minimum and maximum are exact either way.
//
// A Dist belongs to one goroutine.
type Dist struct {
	exactUpTo int
	digits    int
	exact     []float64
	sorted    bool
	hist      *hdrhistogram.Histogram // nil while exact
	spare     *hdrhistogram.Histogram // an empty one from before a Reset
	packed    []bar                   // the histogram of a compacted Dist

	moments Moments
}

// NewDist makes a Dist that is exact for up to exactUpTo samples, and right to
// 0.1 % beyond.
func NewDist(exactUpTo int) *Dist { return &Dist{exactUpTo: exactUpTo, digits: fineDigits} }

// NewCoarseDist makes a Dist that is right to 1 % beyond its exact samples, for
// the many that a live window holds.
func NewCoarseDist(exactUpTo int) *Dist { return &Dist{exactUpTo: exactUpTo, digits: coarseDigits} }

// Add counts one sample. Values that are no duration (NaN, infinities, below
// zero) are dropped: they can only come from a fault of ours.
func (d *Dist) Add(ms float64) {
	if math.IsNaN(ms) || math.IsInf(ms, 0) || ms < 0 {
		return
	}
	d.unpack()
	d.moments.Add(ms)
	if d.hist != nil {
		_ = d.hist.RecordValue(toBucketUS(ms))
		return
	}
	d.exact = append(d.exact, ms)
	d.sorted = false
	if len(d.exact) > d.exactUpTo {
		d.spill()
	}
}

// Merge adds all samples of o, which stays as it is.
func (d *Dist) Merge(o *Dist) {
	if o == nil || o.N() == 0 {
		return
	}
	d.unpack()
	o.unpack()
	if o.hist == nil {
		for _, ms := range o.exact {
			d.Add(ms)
		}
		return
	}
	if d.hist == nil {
		d.spill()
	}
	d.moments.Merge(&o.moments)
	d.hist.Merge(o.hist)
}

// Reset empties the Dist and keeps its memory.
func (d *Dist) Reset() {
	d.exact, d.packed = d.exact[:0], nil
	if d.hist != nil {
		d.hist.Reset()
		d.spare, d.hist = d.hist, nil
	}
	d.moments, d.sorted = Moments{}, false
}

// compactExact is how many samples a compacted Dist keeps.
const compactExact = 2048

// bar is a bucket of a compacted histogram that holds samples.
type bar struct{ us, n uint32 }

// Compact shrinks the Dist to a few kilobytes for the time that it is only kept. Beyond 2,048
// samples its quantiles are within 1 % from then on.
func (d *Dist) Compact() {
	d.spare = nil
	if d.hist == nil && len(d.exact) <= compactExact {
		d.exact = slices.Clone(d.exact)
		return
	}
	coarse := hdrhistogram.New(histMinUS, histMaxUS, coarseDigits)
	for _, ms := range d.exact {
		_ = coarse.RecordValue(toBucketUS(ms))
	}
	if d.hist != nil {
		coarse.Merge(d.hist)
	}
	for _, b := range coarse.Distribution() {
		if b.Count > 0 {
			d.packed = append(d.packed, bar{uint32(min((b.From+b.To)/2, histMaxUS)), uint32(b.Count)})
		}
	}
	d.digits, d.hist, d.exact = coarseDigits, nil, nil
}

// unpack undoes what Compact did with a histogram.
func (d *Dist) unpack() {
	if d.packed == nil {
		return
	}
	d.hist = hdrhistogram.New(histMinUS, histMaxUS, d.digits)
	for _, b := range d.packed {
		_ = d.hist.RecordValues(int64(b.us), int64(b.n))
	}
	d.packed = nil
}

// N is the number of samples.
func (d *Dist) N() int { return d.moments.N }

// Quantile is the q-quantile (0 ≤ q ≤ 1) in milliseconds. On exact samples it
// interpolates linearly between the two nearest ranks: position q·(n−1).
func (d *Dist) Quantile(q float64) (ms float64, ok bool) {
	if d.N() == 0 {
		return 0, false
	}
	d.unpack()
	if d.hist != nil {
		ms = float64(d.hist.ValueAtQuantile(q*100)) / usPerMS
		return min(max(ms, d.moments.Min), d.moments.Max), true
	}
	if !d.sorted {
		slices.Sort(d.exact)
		d.sorted = true
	}
	return interpolate(d.exact, q), true
}

// Summary gives the usual figures at once.
func (d *Dist) Summary() Summary {
	m := &d.moments
	if m.N == 0 {
		return Summary{}
	}
	s := Summary{N: m.N, Mean: m.Mean(), Std: m.Std(), Min: m.Min, Max: m.Max}
	s.P50, _ = d.Quantile(0.5)
	s.P90, _ = d.Quantile(0.9)
	s.P95, _ = d.Quantile(0.95)
	s.P99, _ = d.Quantile(0.99)
	s.P999, _ = d.Quantile(0.999)
	return s
}

// spill moves the exact samples into a histogram.
func (d *Dist) spill() {
	d.hist, d.spare = d.spare, nil
	if d.hist == nil {
		d.hist = hdrhistogram.New(histMinUS, histMaxUS, d.digits)
	}
	for _, ms := range d.exact {
		_ = d.hist.RecordValue(toBucketUS(ms))
	}
	d.exact = d.exact[:0]
}

// toBucketUS brings a sample into the range of the histogram; what lies beyond
// it still counts at its edge.
func toBucketUS(ms float64) int64 {
	return min(max(int64(math.Round(ms*usPerMS)), histMinUS), histMaxUS)
}

// interpolate is the linear quantile of sorted samples.
func interpolate(sorted []float64, q float64) float64 {
	pos := q * float64(len(sorted)-1)
	lo := int(math.Floor(pos))
	hi := min(lo+1, len(sorted)-1)
	return sorted[lo] + (sorted[hi]-sorted[lo])*(pos-float64(lo))
}
