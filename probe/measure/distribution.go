package measure

import (
	"errors"
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Unit is what a histogram counts in.
type Unit string

// Units of histograms.
const (
	Microseconds Unit = "us" // of samples that are milliseconds
	Tokens       Unit = "token"
)

// perSample is how many of the unit make 1 in a sample.
func (u Unit) perSample() float64 {
	if u == Tokens {
		return 1
	}
	return 1000
}

// of is a value of the histogram as a sample.
func (u Unit) of(v int64) float64 { return float64(v) / u.perSample() }

// Distribution is a Dist in the form of the files: what it takes to add it to others, and to
// read any percentile of it. All but the histogram is exact, and in the unit of the samples.
type Distribution struct {
	N       int     `json:"n"`
	Sum     float64 `json:"sum"`
	Squares float64 `json:"squares"` // summed squared deviations from the mean
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Unit    Unit    `json:"hdr_unit"`
	Digits  int     `json:"hdr_digits"` // significant ones of the histogram
	HDR     string  `json:"hdr"`        // HdrHistogram's V2 compressed encoding, in base64
}

// Distribution is the Dist in the form of the files; nil without samples. It costs about a
// millisecond, and a Dist of more than a few samples nothing once it is compacted.
func (d *Dist) Distribution() *Distribution {
	m := &d.moments
	if m.N == 0 {
		return nil
	}
	return &Distribution{N: m.N, Sum: m.sum, Squares: m.squares, Min: m.Min, Max: m.Max, Unit: d.unit, Digits: d.digits, HDR: d.encoded()}
}

// encoded is the histogram of all samples, encoded.
func (d *Dist) encoded() string {
	if d.packed != "" {
		return d.packed
	}
	h := d.hist
	if h == nil {
		h = hdrhistogram.New(histMin, histMax, d.digits)
		d.record(h)
	}
	text, _ := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase) // writes to memory only
	return string(text)
}

// Dist reads a Distribution from a file. Histograms of another range or precision than ours
// could only be added with a loss, and are refused.
func (s *Distribution) Dist() (*Dist, error) {
	if s.Unit != Microseconds && s.Unit != Tokens {
		return nil, fmt.Errorf("its histogram is in an unknown unit %q", s.Unit)
	}
	h, err := hdrhistogram.Decode([]byte(s.HDR))
	switch {
	case err != nil:
		return nil, fmt.Errorf("its histogram is damaged: %w", err)
	case h.SignificantFigures() != fineDigits || h.LowestTrackableValue() != histMin || h.HighestTrackableValue() != histMax:
		return nil, fmt.Errorf("its histogram has another range or precision than 1 to %d with %d digits", histMax, fineDigits)
	case s.N <= 0 || h.TotalCount() != int64(s.N):
		return nil, errors.New("its histogram holds another number of samples than it says")
	}
	m := Moments{N: s.N, Min: s.Min, Max: s.Max, sum: s.Sum, mean: s.Sum / float64(s.N), squares: s.Squares}
	return &Dist{digits: fineDigits, unit: s.Unit, hist: h, moments: m}, nil
}
