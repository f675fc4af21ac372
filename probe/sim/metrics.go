package sim

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Buckets are vLLM's (vllm/v1/metrics/loggers.py), in seconds and tokens.
var (
	ttftBuckets = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	gapBuckets  = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	e2eBuckets  = []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	stepBuckets = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
)

// metrics publishes the engine's state under the names of vLLM V1, with its
// units: seconds, tokens, and a fraction in kv_cache_usage_perc. Histograms are
// filled as things happen, the rest is read at each scrape.
type metrics struct {
	snapshot func() snapshot
	scraped  []scraped
	finished *prometheus.Desc
	info     prometheus.Metric

	ttft, gap, e2e, queue, prefill, decode, inference, step prometheus.Histogram
}

// scraped is a value that a scrape takes from a snapshot.
type scraped struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*snapshot) float64
}

func newMetrics(s *setup, modelID string) *metrics {
	labels := prometheus.Labels{"model_name": modelID, "engine": "0"}
	m := &metrics{
		scraped:  scrapedValues(labels),
		finished: prometheus.NewDesc("vllm:request_success_total", "Requests that ended, by reason.", []string{"finished_reason"}, labels),
		info:     cacheInfo(s),
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "vllm:" + name, Help: help, Buckets: buckets, ConstLabels: labels})
	}
	m.ttft = histogram("time_to_first_token_seconds", "Time from arrival to the first token.", ttftBuckets)
	m.gap = histogram("inter_token_latency_seconds", "Time between two tokens of a request.", gapBuckets)
	m.e2e = histogram("e2e_request_latency_seconds", "Time from arrival to the last token.", e2eBuckets)
	m.queue = histogram("request_queue_time_seconds", "Time from arrival to the first iteration.", e2eBuckets)
	m.inference = histogram("request_inference_time_seconds", "Time from the first iteration to the last token.", e2eBuckets)
	m.prefill = histogram("request_prefill_time_seconds", "Time from the first iteration to the first token.", e2eBuckets)
	m.decode = histogram("request_decode_time_seconds", "Time from the first to the last token.", e2eBuckets)
	m.step = histogram("iteration_tokens_total", "Tokens computed per iteration.", stepBuckets)
	return m
}

// registry is what the metrics page is made from.
func (m *metrics) registry(snap func() snapshot) *prometheus.Registry {
	m.snapshot = snap
	reg := prometheus.NewRegistry()
	reg.MustRegister(m, m.ttft, m.gap, m.e2e, m.queue, m.inference, m.prefill, m.decode, m.step)
	return reg
}

func scrapedValues(labels prometheus.Labels) []scraped {
	value := func(kind prometheus.ValueType, name, help string, get func(*snapshot) float64) scraped {
		return scraped{prometheus.NewDesc("vllm:"+name, help, nil, labels), kind, get}
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return []scraped{
		value(gauge, "num_requests_running", "Requests in the batch.", func(s *snapshot) float64 { return float64(s.running) }),
		value(gauge, "num_requests_waiting", "Requests in the queue.", func(s *snapshot) float64 { return float64(s.waiting) }),
		value(gauge, "kv_cache_usage_perc", "Share of KV blocks in use, 0 to 1.", func(s *snapshot) float64 { return s.kvUsage }),
		value(counter, "num_preemptions_total", "Requests thrown out of the batch for want of KV blocks.", func(s *snapshot) float64 { return float64(s.stats.preemptions) }),
		value(counter, "prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.", func(s *snapshot) float64 { return float64(s.stats.prefixQueries) }),
		value(counter, "prefix_cache_hits_total", "Prompt tokens found in the prefix cache.", func(s *snapshot) float64 { return float64(s.stats.prefixHits) }),
		value(counter, "prompt_tokens_total", "Prompt tokens, with cached ones.", func(s *snapshot) float64 { return float64(s.stats.promptTokens) }),
		value(counter, "generation_tokens_total", "Generated tokens.", func(s *snapshot) float64 { return float64(s.stats.generationTokens) }),
	}
}

// cacheInfo carries the KV cache's size in its labels; its value is always 1.
func cacheInfo(s *setup) prometheus.Metric {
	desc := prometheus.NewDesc("vllm:cache_config_info", "The KV cache.", nil, prometheus.Labels{
		"engine": "0", "block_size": strconv.Itoa(s.blockTokens), "num_gpu_blocks": strconv.Itoa(s.kvBlocks),
		"kv_cache_size_tokens": strconv.Itoa(s.kvTokens()), "cache_dtype": s.shape.kv.name,
		"enable_prefix_caching": map[bool]string{true: "True", false: "False"}[s.prefixCache],
	})
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1)
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	for _, s := range m.scraped {
		out <- s.desc
	}
	out <- m.finished
	out <- m.info.Desc()
}

// Collect implements prometheus.Collector. All values are of one moment.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	snap := m.snapshot()
	for _, s := range m.scraped {
		out <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value(&snap))
	}
	for _, f := range finishes {
		out <- prometheus.MustNewConstMetric(m.finished, prometheus.CounterValue, float64(snap.stats.finished[f]), string(f))
	}
	out <- m.info
}

func (m *metrics) iteration(it iteration) { m.step.Observe(float64(it.batch.tokens)) }

func (m *metrics) tokens(all []yield) {
	for _, t := range all {
		s := t.seq
		if t.first {
			observe(m.ttft, s.first-s.arrived)
		} else {
			observe(m.gap, t.gap)
		}
		if t.end != finishNone {
			observe(m.e2e, s.last-s.arrived)
			observe(m.queue, s.scheduled-s.arrived)
			observe(m.inference, s.last-s.scheduled)
			observe(m.prefill, s.first-s.scheduled)
			observe(m.decode, s.last-s.first)
		}
	}
}

func observe(h prometheus.Histogram, d time.Duration) { h.Observe(d.Seconds()) }
