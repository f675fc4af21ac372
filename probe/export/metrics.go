// Package export publishes what is measured as Prometheus metrics: latencies as classic and
// native histograms, requests by what became of them, and the verdict.
//
// It reads Frames, or requests one by one. A scrape never waits for a measurement, nor a
// measurement for a scrape.
package export

import (
	"cmp"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sonde/probe/measure"
)

// Buckets of the classic histograms, in seconds. Those of TTFT and E2E are vLLM's; gaps reach
// further down, where engines of today decode a token in a few milliseconds.
var (
	ttftBuckets = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160}
	gapBuckets  = []float64{0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 10, 20, 40, 80}
	e2eBuckets  = []float64{0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960}
	dialBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
)

// Native histograms: neighbouring buckets differ by at most a tenth, and there are at most so
// many of them. Where the latencies spread further the resolution is halved.
const (
	nativeFactor  = 1.1
	nativeBuckets = 160
	nativeReset   = time.Hour // at most this often they start over instead
)

// series says whose a metric is.
var series = []string{"endpoint", "model"}

// Metrics are the metrics of one program. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	input    *prometheus.CounterVec
	output   *prometheus.CounterVec
	setup    *prometheus.HistogramVec
	ttft     *prometheus.HistogramVec
	tpot     *prometheus.HistogramVec
	gap      *prometheus.HistogramVec
	e2e      *prometheus.HistogramVec
	statuses *statuses

	announced announced
}

// New makes the metrics of a program of that version.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counters("sonde_requests_total", "Requests that ended. result is ok, failed, loading or cancelled; class says how a request failed.", "result", "class"),
		input:    counters("sonde_prompt_tokens_total", "Prompt tokens of requests that succeeded, as the server counts them."),
		output:   counters("sonde_generation_tokens_total", "Output tokens of requests that succeeded."),
		setup:    histograms("sonde_connection_setup_seconds", "Time to open a connection: DNS, TCP and TLS. Not part of any other latency.", dialBuckets),
		ttft:     histograms("sonde_ttft_seconds", "Time from the first byte of a request to its first token (TTFT).", ttftBuckets),
		tpot:     histograms("sonde_tpot_seconds", "Mean time of a request per output token after the first (TPOT).", gapBuckets),
		gap:      histograms("sonde_gap_seconds", "Time between two chunks with tokens (gap).", gapBuckets),
		e2e:      histograms("sonde_e2e_seconds", "Time from the first byte of a request to its last token (E2E).", e2eBuckets),
		statuses: &statuses{}, announced: announced{done: map[[2]string]bool{}},
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "sonde_build_info", Help: "The version of sonde; always 1."}, []string{"version"})
	build.WithLabelValues(cmp.Or(version, "devel")).Set(1)
	m.registry.MustRegister(build, m.requests, m.input, m.output, m.setup, m.ttft, m.tpot, m.gap, m.e2e, m.statuses)
	return m
}

func counters(name, help string, more ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append(series[:len(series):len(series)], more...))
}

func histograms(name, help string, buckets []float64) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: nativeFactor, NativeHistogramMaxBucketNumber: nativeBuckets, NativeHistogramMinResetDuration: nativeReset,
	}, series)
}

// Results of a request, the values of the label of that name.
const (
	resultOK        = "ok"
	resultFailed    = "failed"
	resultLoading   = "loading" // by a server that is not ready: no failure
	resultCancelled = "cancelled"
)

func resultOf(c measure.Class) (result, class string) {
	switch c {
	case measure.OK:
		return resultOK, ""
	case measure.Loading:
		return resultLoading, ""
	case measure.Cancelled:
		return resultCancelled, ""
	}
	return resultFailed, string(c)
}

// announced remembers the pairs of endpoint and model whose counters began.
type announced struct {
	mu   sync.Mutex
	done map[[2]string]bool
}

// Announce starts the counters of an endpoint and a model at 0, so that the first failure of
// a class is seen as an increase. Count does it too, too late for the very first request.
func (m *Metrics) Announce(endpoint, model string) {
	m.announced.mu.Lock()
	known := m.announced.done[[2]string{endpoint, model}]
	m.announced.done[[2]string{endpoint, model}] = true
	m.announced.mu.Unlock()
	if known {
		return
	}
	for _, c := range measure.Classes {
		result, class := resultOf(c)
		m.requests.WithLabelValues(endpoint, model, result, class)
	}
	m.input.WithLabelValues(endpoint, model)
	m.output.WithLabelValues(endpoint, model)
}

// Count adds a request that ended. One that failed, or during which our own process was
// stopped, gives no latency; a long prompt that was sent on purpose is not counted at all.
func (m *Metrics) Count(endpoint, model string, r *measure.Request) {
	if r.Long {
		return
	}
	m.Announce(endpoint, model)
	result, class := resultOf(r.Class)
	m.requests.WithLabelValues(endpoint, model, result, class).Inc()
	if !r.Reused && r.Setup > 0 {
		m.setup.WithLabelValues(endpoint, model).Observe(r.Setup.Seconds())
	}
	if r.Class != measure.OK {
		return
	}
	m.input.WithLabelValues(endpoint, model).Add(float64(r.InTokens))
	m.output.WithLabelValues(endpoint, model).Add(float64(r.OutTokens))
	if r.Excluded {
		return
	}
	for _, l := range []struct {
		to *prometheus.HistogramVec
		of func() (float64, bool)
	}{{m.ttft, r.TTFT}, {m.tpot, r.TPOT}, {m.e2e, r.E2E}} {
		if ms, ok := l.of(); ok {
			l.to.WithLabelValues(endpoint, model).Observe(ms / 1000)
		}
	}
	if !r.Streamed {
		return
	}
	gaps := m.gap.WithLabelValues(endpoint, model)
	for ms, n := range r.EachGap() {
		for range n {
			gaps.Observe(ms / 1000)
		}
	}
}
