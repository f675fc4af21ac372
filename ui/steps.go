package ui

import "math"

// Token lengths move along 16, 24, 32, 48, 64, 96, 128, …: two steps double.
const shortest, longest = 16, 1 << 20

func stepUp(n int) int {
	for base := shortest; base <= longest; base *= 2 {
		for _, step := range []int{base, base + base/2} {
			if step > n {
				return min(step, longest)
			}
		}
	}
	return longest
}

// stepDown ends at 1: an answer of one token is all prefill.
func stepDown(n int) int {
	best := 1
	for base := shortest; base <= longest; base *= 2 {
		for _, step := range []int{base, base + base/2} {
			if step < n {
				best = step
			}
		}
	}
	return best
}

// Rates move by about a tenth, to numbers that are short to read.
func rateUp(r float64) float64   { return r + rateStep(r) }
func rateDown(r float64) float64 { return math.Max(0.1, tidy(r-rateStep(r-1e-9))) }

// rateStep is 0.1 below 2, 1 below 20, 10 below 200 …
func rateStep(r float64) float64 {
	step := 0.1
	for r >= 20*step {
		step *= 10
	}
	return step
}

// tidy removes what binary fractions leave behind.
func tidy(r float64) float64 { return math.Round(r*10) / 10 }
