package serve

import (
	"time"

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

// metrics publishes the engine's state under the names of vLLM V1, with its units:
// seconds, tokens, and a fraction in kv_cache_usage_perc. Histograms are filled as
// things happen, most of the rest is read at each scrape (scrapedPage).
type metrics struct {
	registry *prometheus.Registry
	labels   prometheus.Labels

	ttft, gap, step prometheus.Histogram
	done            finished
	cached          prometheus.Counter
	bySource        *prometheus.CounterVec
}

// finished are the histograms that a request is counted in when it ends.
type finished struct {
	e2e, queue, inference, prefill, decode, tpot prometheus.Histogram // seconds
	prompt, answer, longest, maxTokens, computed prometheus.Histogram // tokens
	n                                            prometheus.Histogram // answers
}

func NewMetrics(s *core.Setup) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), labels: prometheus.Labels{"model_name": modelID(s), "engine": "0"}}
	m.ttft = m.histogram("time_to_first_token_seconds", "Time from arrival to the first token.", ttftBuckets)
	m.gap = m.histogram("inter_token_latency_seconds", "Time between two steps that gave a request tokens.", gapBuckets)
	m.step = m.histogram("iteration_tokens_total", "Tokens computed per iteration.", stepBuckets)
	lengths := lengthBuckets(s.MaxModelLen)
	m.done = finished{
		e2e:       m.histogram("e2e_request_latency_seconds", "Time from arrival to the last token.", e2eBuckets),
		queue:     m.histogram("request_queue_time_seconds", "Time from arrival to the first iteration.", e2eBuckets),
		inference: m.histogram("request_inference_time_seconds", "Time from the first iteration to the last token.", e2eBuckets),
		prefill:   m.histogram("request_prefill_time_seconds", "Time from the first iteration to the first token.", e2eBuckets),
		decode:    m.histogram("request_decode_time_seconds", "Time from the first to the last token.", e2eBuckets),
		tpot:      m.histogram("request_time_per_output_token_seconds", "Mean time per token after the first.", gapBuckets),
		prompt:    m.histogram("request_prompt_tokens", "Tokens of a prompt.", lengths),
		answer:    m.histogram("request_generation_tokens", "Tokens of an answer.", lengths),
		longest:   m.histogram("request_max_num_generation_tokens", "Tokens of the longest answer to a request.", lengths),
		maxTokens: m.histogram("request_params_max_tokens", "Parameter max_tokens of a request.", lengths),
		computed:  m.histogram("request_prefill_kv_computed_tokens", "Prompt tokens that were not found in a cache.", lengths),
		n:         m.histogram("request_params_n", "Parameter n of a request.", nBuckets),
	}
	m.cached = prometheus.NewCounter(m.counter("prompt_tokens_cached_total", "Prompt tokens found in a cache."))
	m.bySource = prometheus.NewCounterVec(m.counter("prompt_tokens_by_source_total", "Prompt tokens by where their KV came from."), []string{"source"})
	for _, source := range []string{"local_compute", "local_cache_hit", "external_kv_transfer"} {
		m.bySource.WithLabelValues(source) // all are there from the start
	}
	m.registry.MustRegister(m.cached, m.bySource)
	return m
}

func (m *metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "vllm:" + name, Help: help, Buckets: buckets, ConstLabels: m.labels})
	m.registry.MustRegister(h)
	return h
}

func (m *metrics) counter(name, help string) prometheus.CounterOpts {
	return prometheus.CounterOpts{Name: "vllm:" + name, Help: help, ConstLabels: m.labels}
}

func (m *metrics) Iteration(it core.Iteration) { m.step.Observe(float64(it.Batch.Tokens)) }

func (m *metrics) Tokens(all []core.Output) {
	for _, t := range all {
		s := t.Seq
		if t.First {
			observe(m.ttft, s.First-s.Arrived)
			m.countPrompt(s)
		} else {
			observe(m.gap, t.Gap)
		}
		if t.End != core.Unfinished {
			m.done.count(s)
		}
	}
}

func (m *metrics) countPrompt(s *core.Sequence) {
	m.cached.Add(float64(s.Cached))
	m.bySource.WithLabelValues("local_cache_hit").Add(float64(s.Cached))
	m.bySource.WithLabelValues("local_compute").Add(float64(len(s.Prompt) - s.Cached))
}

func (f *finished) count(s *core.Sequence) {
	observe(f.e2e, s.Last-s.Arrived)
	observe(f.queue, s.Scheduled-s.Arrived)
	observe(f.inference, s.Last-s.Scheduled)
	observe(f.prefill, s.First-s.Scheduled)
	observe(f.decode, s.Last-s.First)
	n := s.Generated()
	if n > 1 {
		observe(f.tpot, (s.Last-s.First)/time.Duration(n-1))
	}
	f.prompt.Observe(float64(len(s.Prompt)))
	f.computed.Observe(float64(len(s.Prompt) - s.Cached))
	f.answer.Observe(float64(n))
	f.longest.Observe(float64(n))
	f.maxTokens.Observe(float64(s.MaxTokens))
	f.n.Observe(1)
}

func observe(h prometheus.Histogram, d time.Duration) { h.Observe(d.Seconds()) }
