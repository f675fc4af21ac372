package chart

import "slices"

// Ranger chooses the bounds of an axis from the data on it, and keeps them calm:
// a bound moves outward at once, and inward only when the data has needed at most
// half of it (one step of 1-2-5) for a number of calls in a row. The zero value is a
// linear Ranger ready for use.
//
// A linear scale runs from 0 to 1, 2 or 5 times a power of ten. A logarithmic one
// has such numbers at both ends and spans one to five decades; smaller values than
// that lie on its bottom edge.
type Ranger struct {
	Log bool

	top    edge
	bottom edge // holds −step, so that outward is up here too
}

const (
	patience    = 40 // calls
	mostDecades = 5
)

// Scale returns the bounds for these values. Only finite values above 0 count; without
// any the bounds stay as they are.
func (r *Ranger) Scale(values ...[]float64) Scale {
	low, high := extent(values)
	if high > 0 {
		r.top.follow(stepUp(high))
		r.bottom.follow(-stepDown(low))
	}
	if !r.Log {
		return Scale{Min: 0, Max: r.top.at().value()}
	}
	top, bottom := r.top.at(), -r.bottom.at()
	bottom = min(max(bottom, top-mostDecades*decade), top-decade)
	return Scale{Min: bottom.value(), Max: top.value(), Log: true}
}

// extent returns the smallest and largest finite value above 0, or 0, 0.
func extent(values [][]float64) (low, high float64) {
	for _, row := range values {
		for _, v := range row {
			if !finite(v) || v <= 0 {
				continue
			}
			high = max(high, v)
			if low == 0 || v < low {
				low = v
			}
		}
	}
	return low, high
}

// edge is what one bound of the axis needed in the last calls, growing upward. The bound is
// the most of them.
type edge []step

func (e *edge) follow(need step) {
	*e = append(*e, need)
	*e = (*e)[max(0, len(*e)-patience):]
}

func (e edge) at() step {
	if len(e) == 0 {
		return 0
	}
	return slices.Max(e)
}
