package ui

import (
	"math"
	"slices"
)

// tripleOf gives the 50th, 95th and 99th percentile by linear interpolation
// between the two nearest ranks; NaN without samples.
func tripleOf(samples []float64) triple {
	sorted := slices.Clone(samples)
	slices.Sort(sorted)
	return triple{quantile(sorted, 0.50), quantile(sorted, 0.95), quantile(sorted, 0.99)}
}

// triple is p50, p95 and p99 of the samples of one dot column, in milliseconds.
type triple [3]float64

var noTriple = triple{math.NaN(), math.NaN(), math.NaN()}

// quantile expects sorted samples. The rank of the q-quantile of n samples is
// q·(n−1), counted from 0.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	rank := q * float64(len(sorted)-1)
	low := int(rank)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (rank-float64(low))*(sorted[high]-sorted[low])
}
