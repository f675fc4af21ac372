package scrape

import (
	"math"
	"testing"
)

func TestHistogramsOfUnequalRanks(t *testing.T) {
	got := take(t, `vllm:e2e_request_latency_seconds_bucket{engine="0",le="1.0"} 1
vllm:e2e_request_latency_seconds_bucket{engine="0",le="2.0"} 2
vllm:e2e_request_latency_seconds_bucket{engine="0",le="+Inf"} 3
vllm:e2e_request_latency_seconds_bucket{engine="1",le="2"} 10
vllm:e2e_request_latency_seconds_bucket{engine="1",le="+Inf"} 10
vllm:e2e_request_latency_seconds_count{engine="0"} 3
vllm:e2e_request_latency_seconds_count{engine="1"} 10
`, "").E2E
	if len(got.Bounds) != 2 || got.Bounds[0] != 2 || got.Counts[0] != 12 || got.Counts[1] != 13 {
		t.Errorf("merged = %+v, want 12 at 2 s and 13 at +Inf", got)
	}
}

func TestHistogramWithoutInfinity(t *testing.T) {
	got := take(t, "vllm:e2e_request_latency_seconds_bucket{le=\"1\"} 3\nvllm:e2e_request_latency_seconds_count 5\n", "").E2E
	if len(got.Bounds) != 2 || !math.IsInf(got.Bounds[1], 1) || got.Counts[1] != 5 {
		t.Errorf("histogram = %+v, want 5 at +Inf", got)
	}
}
