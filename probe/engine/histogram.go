package engine

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"sonde/probe/opt"
)

// Histogram is a Prometheus histogram, merged over ranks. Buckets are cumulative
// and sorted by bound; the last bound is +Inf. No buckets means unknown; only the
// bound +Inf means that no more than the mean is known.
type Histogram struct {
	Bounds []float64 // upper bounds, seconds
	Counts []float64 // cumulative
	Sum    float64   // seconds
	Count  float64
}

// MarshalJSON omits the last bound, +Inf, which JSON cannot hold. Without it, or with
// NaN in it, a histogram is null.
func (h Histogram) MarshalJSON() ([]byte, error) {
	n := len(h.Bounds)
	if n == 0 || n != len(h.Counts) || !math.IsInf(h.Bounds[n-1], 1) {
		return []byte("null"), nil
	}
	raw, err := json.Marshal(histogramJSON{h.Bounds[:n-1], h.Counts, h.Sum, h.Count})
	if odd := (*json.UnsupportedValueError)(nil); errors.As(err, &odd) {
		return []byte("null"), nil // a page may hold NaN
	}
	return raw, err
}

// UnmarshalJSON reads what MarshalJSON has written.
func (h *Histogram) UnmarshalJSON(raw []byte) error {
	var form histogramJSON
	if err := json.Unmarshal(raw, &form); err != nil || len(form.Counts) != len(form.Bounds)+1 {
		return err
	}
	*h = Histogram{append(form.Bounds, math.Inf(1)), form.Counts, form.Sum, form.Count}
	return nil
}

type histogramJSON struct {
	Bounds []float64 `json:"bounds"`
	Counts []float64 `json:"counts"` // one more than bounds
	Sum    float64   `json:"sum"`
	Count  float64   `json:"count"`
}

// IsZero reports whether the histogram is unknown.
func (h Histogram) IsZero() bool { return len(h.Bounds) == 0 }

// Sub returns what h gained since prev. It is empty (unknown) when prev has other buckets,
// more in them, or a larger sum: then the engine has restarted in between, or another one
// has answered.
func (h Histogram) Sub(prev Histogram) Histogram {
	if len(h.Bounds) == 0 || !slices.Equal(h.Bounds, prev.Bounds) || h.Count < prev.Count || h.Sum < prev.Sum {
		return Histogram{}
	}
	diff := Histogram{Bounds: h.Bounds, Counts: make([]float64, len(h.Counts)), Sum: h.Sum - prev.Sum, Count: h.Count - prev.Count}
	for i := range h.Counts {
		diff.Counts[i] = h.Counts[i] - prev.Counts[i]
		if diff.Counts[i] < 0 {
			return Histogram{}
		}
	}
	return diff
}

// Quantile estimates a quantile, q from 0 to 1, in seconds, as if observations
// were spread evenly within a bucket. Beyond the last finite bound it is not ok,
// and above is that bound. Without observations it is not ok, and above is 0.
func (h Histogram) Quantile(q float64) (v, above float64, ok bool) {
	if h.Count <= 0 || len(h.Bounds) == 0 || math.IsNaN(q) {
		return 0, 0, false
	}
	rank := min(max(q, 0), 1) * h.Count
	var lower, below float64
	for i, bound := range h.Bounds {
		count := max(h.Counts[i], below) // pages of several processes may be torn
		if count >= rank && count > below {
			if math.IsInf(bound, 1) {
				return 0, lower, false
			}
			lower = min(lower, bound)
			return lower + (bound-lower)*max(rank-below, 0)/(count-below), 0, true
		}
		lower, below = bound, count
	}
	return 0, lower, false
}

// Mean is the mean of the observations in seconds; unknown without any. Times are not
// negative: a sum that is comes from a page that cannot be right.
func (h Histogram) Mean() opt.Float {
	if h.Count <= 0 || h.Sum < 0 {
		return opt.Float{}
	}
	return opt.Of(h.Sum / h.Count)
}

// Complete makes the last bound +Inf and lets its count agree with the total.
func (h Histogram) Complete() Histogram {
	if len(h.Bounds) == 0 {
		return Histogram{}
	}
	last := len(h.Bounds) - 1
	if !math.IsInf(h.Bounds[last], 1) {
		h.Bounds = append(h.Bounds, math.Inf(1))
		h.Counts = append(h.Counts, max(h.Count, h.Counts[last]))
		last++
	}
	if h.Count == 0 {
		h.Count = h.Counts[last]
	}
	return h
}
