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
	histMin      = 1
	histMax      = int64(3600 * 1e6)
	fineDigits   = 3
	coarseDigits = 2
)

// Dist collects samples: latencies in milliseconds, or tokens. Up to a cap it keeps them all
// and its quantiles are exact; beyond it they come from a histogram. Mean, deviation,
// minimum and maximum are exact either way.
//
// A Dist belongs to one goroutine.
type Dist struct {
	exactUpTo int
	digits    int
	unit      Unit
	exact     []float64
	sorted    bool
	hist      *hdrhistogram.Histogram // nil while exact
	spare     *hdrhistogram.Histogram // an empty one from before a Reset
	packed    string                  // the histogram of a compacted Dist, encoded

	moments Moments
}

// NewDist makes a Dist that is exact for up to exactUpTo samples, and right to
// 0.1 % beyond.
func NewDist(exactUpTo int) *Dist {
	return &Dist{exactUpTo: exactUpTo, digits: fineDigits, unit: Microseconds}
}

// NewTokenDist makes such a Dist of numbers of tokens.
func NewTokenDist(exactUpTo int) *Dist {
	return &Dist{exactUpTo: exactUpTo, digits: fineDigits, unit: Tokens}
}

// NewCoarseDist makes a Dist that is right to 1 % beyond its exact samples, for
// the many that a live window holds.
func NewCoarseDist(exactUpTo int) *Dist {
	return &Dist{exactUpTo: exactUpTo, digits: coarseDigits, unit: Microseconds}
}

// Add counts one sample. Values that are neither a duration nor a count (NaN, infinities, below
// zero) are dropped: they can only come from a fault of ours.
func (d *Dist) Add(ms float64) {
	if math.IsNaN(ms) || math.IsInf(ms, 0) || ms < 0 {
		return
	}
	d.unpack()
	d.moments.Add(ms)
	if d.hist != nil {
		_ = d.hist.RecordValue(d.bucket(ms))
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
	d.exact, d.packed = d.exact[:0], ""
	if d.hist != nil {
		d.hist.Reset()
		d.spare, d.hist = d.hist, nil
	}
	d.moments, d.sorted = Moments{}, false
}

// compactExact is how many samples a compacted Dist keeps.
const compactExact = 256

// Compact shrinks the Dist to a few kilobytes for the time that it is only kept. Beyond 256
// samples its quantiles are within 0.1 % from then on.
func (d *Dist) Compact() {
	d.spare = nil
	if d.hist == nil && len(d.exact) <= compactExact {
		d.exact = slices.Clone(d.exact)
		return
	}
	d.packed, d.hist, d.exact = d.encoded(), nil, nil
}

// unpack undoes what Compact did with a histogram.
func (d *Dist) unpack() {
	if d.packed == "" {
		return
	}
	d.hist, _ = hdrhistogram.Decode([]byte(d.packed)) // it was encoded here, or read and checked
	d.packed = ""
}

// N is the number of samples.
func (d *Dist) N() int { return d.moments.N }

// Quantile is the q-quantile (0 ≤ q ≤ 1). It interpolates linearly between the two nearest
// ranks: position q·(n−1).
func (d *Dist) Quantile(q float64) (ms float64, ok bool) {
	if d.N() == 0 {
		return 0, false
	}
	return d.quantiles(q)[0], true
}

// quantiles are those of shares in rising order, of a Dist with samples. From a histogram they
// lie between the same two ranks as from exact samples.
func (d *Dist) quantiles(shares ...float64) []float64 {
	d.unpack()
	out := make([]float64, len(shares))
	if d.hist == nil {
		if !d.sorted {
			slices.Sort(d.exact)
			d.sorted = true
		}
		for i, q := range shares {
			out[i] = interpolate(d.exact, q)
		}
		return out
	}
	n := float64(d.hist.TotalCount())
	var ranks []float64
	for _, q := range shares {
		lower := math.Floor(q * (n - 1))
		ranks = append(ranks, 100*(lower+1)/n, 100*min(lower+2, n)/n)
	}
	values := d.hist.ValueAtPercentilesSlice(ranks)
	for i, q := range shares {
		lower, upper := d.unit.of(values[2*i]), d.unit.of(values[2*i+1])
		pos := q * (n - 1)
		out[i] = min(max(lower+(upper-lower)*(pos-math.Floor(pos)), d.moments.Min), d.moments.Max)
	}
	return out
}

// Above is how many samples are above a limit; in a histogram, beyond its bucket.
func (d *Dist) Above(limit float64) int {
	d.unpack()
	n := 0
	for _, v := range d.exact {
		if v > limit {
			n++
		}
	}
	if d.hist == nil {
		return n
	}
	edge := d.bucket(limit)
	for _, bar := range d.hist.Distribution() {
		if bar.From > edge {
			n += int(bar.Count)
		}
	}
	return n
}

// Summary gives the usual figures at once.
func (d *Dist) Summary() Summary {
	m := &d.moments
	if m.N == 0 {
		return Summary{}
	}
	s := Summary{N: m.N, Mean: m.Mean(), Std: m.Std(), Min: m.Min, Max: m.Max}
	q := d.quantiles(0.5, 0.9, 0.95, 0.99, 0.999)
	s.P50, s.P90, s.P95, s.P99, s.P999 = q[0], q[1], q[2], q[3], q[4]
	return s
}

// spill moves the exact samples into a histogram.
func (d *Dist) spill() {
	d.hist, d.spare = d.spare, nil
	if d.hist == nil {
		d.hist = hdrhistogram.New(histMin, histMax, d.digits)
	}
	d.record(d.hist)
	d.exact = d.exact[:0]
}

// record adds the exact samples to a histogram.
func (d *Dist) record(to *hdrhistogram.Histogram) {
	for _, v := range d.exact {
		_ = to.RecordValue(d.bucket(v))
	}
}

// bucket brings a sample into the range of the histogram; what lies beyond it still counts at
// its edge.
func (d *Dist) bucket(v float64) int64 {
	return min(int64(math.Round(v*d.unit.perSample())), histMax)
}

// interpolate is the linear quantile of sorted samples.
func interpolate(sorted []float64, q float64) float64 {
	pos := q * float64(len(sorted)-1)
	lo := int(math.Floor(pos))
	hi := min(lo+1, len(sorted)-1)
	return sorted[lo] + (sorted[hi]-sorted[lo])*(pos-float64(lo))
}
