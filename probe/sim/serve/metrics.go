package serve

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"sonde/probe/sim/core"
)

// Buckets are vLLM's (vllm/v1/metrics/loggers.py), in seconds and tokens.
var (
	ttftBuckets = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	gapBuckets  = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	e2eBuckets  = []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	stepBuckets = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
	nBuckets    = []float64{1, 2, 5, 10, 20}
)

// lengthBuckets are 1, 2, 5, 10, 20, 50, … up to a number of tokens.
func lengthBuckets(most int) (b []float64) {
	for decade := 1; ; decade *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if digit*decade > most {
				return b
			}
			b = append(b, float64(digit*decade))
		}
	}
}

// Metrics publishes the engine's state under the names of vLLM V1, with its units:
// seconds, tokens, and a fraction in kv_cache_usage_perc. Histograms are filled as
// things happen, the rest is read at each scrape.
type Metrics struct {
	registry *prometheus.Registry
	labels   prometheus.Labels

	ttft, gap, step prometheus.Histogram
	ended           []prometheus.Histogram // of the rows of perRequest
}

// NewMetrics makes the observer of an engine's driver.
func NewMetrics(s *core.Setup) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), labels: prometheus.Labels{"model_name": modelID(s), "engine": "0"}}
	m.ttft = m.histogram("time_to_first_token_seconds", "Time from arrival to the first token.", ttftBuckets)
	m.gap = m.histogram("inter_token_latency_seconds", "Time between two steps that gave a request tokens.", gapBuckets)
	m.step = m.histogram("iteration_tokens_total", "Tokens computed per iteration.", stepBuckets)
	lengths := lengthBuckets(s.MaxModelLen)
	for _, h := range perRequest {
		if h.buckets == nil {
			h.buckets = lengths
		}
		m.ended = append(m.ended, m.histogram(h.name, h.help, h.buckets))
	}
	return m
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "vllm:" + name, Help: help, Buckets: buckets, ConstLabels: m.labels})
	m.registry.MustRegister(h)
	return h
}

// perRequest are the histograms that count requests when they end. NaN is not counted.
// Without buckets of its own a histogram has those of lengths.
var perRequest = []struct {
	name, help string
	buckets    []float64
	value      func(*core.Sequence) float64
}{
	{"e2e_request_latency_seconds", "Time from arrival to the last token.", e2eBuckets,
		func(s *core.Sequence) float64 { return (s.Last - s.Arrived).Seconds() }},
	{"request_queue_time_seconds", "Time from arrival to the first iteration.", e2eBuckets,
		func(s *core.Sequence) float64 { return (s.Scheduled - s.Arrived).Seconds() }},
	{"request_inference_time_seconds", "Time from the first iteration to the last token.", e2eBuckets,
		func(s *core.Sequence) float64 { return (s.Last - s.Scheduled).Seconds() }},
	{"request_prefill_time_seconds", "Time from the first iteration to the first token.", e2eBuckets,
		func(s *core.Sequence) float64 { return (s.First - s.Scheduled).Seconds() }},
	{"request_decode_time_seconds", "Time from the first to the last token.", e2eBuckets,
		func(s *core.Sequence) float64 { return (s.Last - s.First).Seconds() }},
	{"request_time_per_output_token_seconds", "Mean time per token after the first.", gapBuckets,
		func(s *core.Sequence) float64 { return (s.Last - s.First).Seconds() / float64(s.Generated()-1) }}, // NaN for one token
	{"request_prompt_tokens", "Tokens of a prompt.", nil, func(s *core.Sequence) float64 { return float64(len(s.Prompt)) }},
	{"request_generation_tokens", "Tokens of an answer.", nil, func(s *core.Sequence) float64 { return float64(s.Generated()) }},
	{"request_max_num_generation_tokens", "Tokens of the longest answer to a request.", nil, func(s *core.Sequence) float64 { return float64(s.Generated()) }},
	{"request_params_max_tokens", "Parameter max_tokens of a request.", nil, func(s *core.Sequence) float64 { return float64(s.MaxTokens) }},
	{"request_prefill_kv_computed_tokens", "Prompt tokens that were not found in a cache.", nil, func(s *core.Sequence) float64 { return float64(len(s.Prompt) - s.Cached) }},
	{"request_params_n", "Parameter n of a request.", nBuckets, func(*core.Sequence) float64 { return 1 }},
}

// Iteration implements core.Observer.
func (m *Metrics) Iteration(it core.Iteration) { m.step.Observe(float64(it.Batch.Tokens)) }

// Tokens implements core.Observer.
func (m *Metrics) Tokens(all []core.Output) {
	for _, t := range all {
		if t.First {
			m.ttft.Observe((t.Seq.First - t.Seq.Arrived).Seconds())
		} else {
			m.gap.Observe(t.Gap.Seconds())
		}
		if t.End == core.Unfinished {
			continue
		}
		for i, h := range perRequest {
			if v := h.value(t.Seq); !math.IsNaN(v) {
				m.ended[i].Observe(v)
			}
		}
	}
}
