package report

import (
	"testing"

	"sonde/probe/engine"
)

// In the lowest bucket nothing is known but its bound.
func TestQuantilesInTheLowestBucket(t *testing.T) {
	bounds := []float64{0.3, 0.5, 1}
	e := estimate(engine.Histogram{Bounds: bounds, Counts: []float64{60, 96, 100}, Sum: 20, Count: 100})
	near(t, "p50", e.P50, 250) // rank 50 of the 60 below 300 ms, evenly spread
	near(t, "below", e.Below["p50"], 300)
	if len(e.Below) != 1 {
		t.Errorf("below %v: p95 is in the second bucket", e.Below)
	}
	// p95: rank 95 of 61 to 96 in 300 to 500 ms; p99: rank 99 of 97 to 100 in 500 to 1000 ms.
	near(t, "p95", e.P95, 494.4444)
	near(t, "p99", e.P99, 875)
}
