package slo

import "math"

// binomialAtMost is P(X ≤ k) for X binomial with n trials of chance p. Terms follow
// from one another in logarithms, so that no n overflows.
func binomialAtMost(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n || p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	odds := math.Log(p) - math.Log1p(-p)
	term := float64(n) * math.Log1p(-p) // of no success
	sum := math.Exp(term)
	for i := range k {
		term += odds + math.Log(float64(n-i)/float64(i+1))
		sum += math.Exp(term)
	}
	return min(sum, 1)
}
