package record

import (
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/opt"
)

// engineLine is what the engine said; latencies are seconds, as it says them.
type engineLine struct {
	Identity identityLine `json:"identity"`
	Reading  *readingLine `json:"reading,omitempty"` // nil: there is none
	Why      string       `json:"why,omitempty"`
}

type identityLine struct {
	Kind        string   `json:"kind"`
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Model       string   `json:"model"`
	Models      []string `json:"models"`
	MaxModelLen int      `json:"max_model_len"`
	MetricsURL  string   `json:"metrics_url"`
	MetricsWhy  string   `json:"metrics_why"`
	GPUURL      string   `json:"gpu_url"`
}

type readingLine struct {
	At                   time.Time     `json:"at"`
	Running              opt.Float     `json:"running"`
	Waiting              opt.Float     `json:"waiting"`
	KVFill               opt.Float     `json:"kv_fill"`
	KVFillMax            opt.Float     `json:"kv_fill_max"`
	KVCapacityTokens     opt.Float     `json:"kv_capacity_tokens"`
	Preemptions          opt.Float     `json:"preemptions"`
	PrefixQueries        opt.Float     `json:"prefix_queries"`
	PrefixHits           opt.Float     `json:"prefix_hits"`
	PromptTokens         opt.Float     `json:"prompt_tokens"`
	GenerationTokens     opt.Float     `json:"generation_tokens"`
	PrefixHitRate        opt.Float     `json:"prefix_hit_rate"`
	PromptTokensPerS     opt.Float     `json:"prompt_tokens_per_s"`
	GenerationTokensPerS opt.Float     `json:"generation_tokens_per_s"`
	TTFT                 histogramLine `json:"ttft_s,omitzero"`
	Gap                  histogramLine `json:"gap_s,omitzero"`
	Queue                histogramLine `json:"queue_s,omitzero"`
	Prefill              histogramLine `json:"prefill_s,omitzero"`
	E2E                  histogramLine `json:"e2e_s,omitzero"`
	Restarted            bool          `json:"restarted,omitempty"`
	Notes                []string      `json:"notes,omitempty"`
}

// histogramLine leaves out the last bound, +Inf, which JSON cannot hold.
type histogramLine struct {
	Bounds []finite `json:"bounds"`
	Counts []finite `json:"counts"` // one more than bounds
	Sum    finite   `json:"sum"`
	Count  finite   `json:"count"`
}

// IsZero tells that the histogram is unknown.
func (l histogramLine) IsZero() bool { return len(l.Counts) == 0 }

type gpuLine struct {
	At     time.Time    `json:"at,omitzero"`
	GPUs   []deviceLine `json:"gpus"`
	Source string       `json:"source"`
	Why    string       `json:"why,omitempty"`
	Period millis       `json:"period_ms"`
}

type deviceLine struct {
	ID            string    `json:"id"`
	Index         int       `json:"index"`
	Name          string    `json:"name"`
	SM            opt.Float `json:"sm"`
	DRAM          opt.Float `json:"dram"`
	Tensor        opt.Float `json:"tensor"`
	Busy          opt.Float `json:"busy"`
	MemUsed       opt.Float `json:"mem_used_bytes"`
	MemTotal      opt.Float `json:"mem_total_bytes"`
	Power         opt.Float `json:"power_w"`
	PowerLimit    opt.Float `json:"power_limit_w"`
	Temperature   opt.Float `json:"temperature_c"`
	SMClock       opt.Float `json:"sm_clock_hz"`
	Source        string    `json:"source"`
	Note          string    `json:"note,omitempty"`
	Parent        string    `json:"parent,omitempty"`
	Lost          bool      `json:"lost,omitempty"`
	BandwidthPeak opt.Float `json:"bandwidth_peak_bytes_per_s"`
}

func fromEngine(s *engine.Status) *engineLine {
	l := &engineLine{Identity: identityLine(s.Identity), Why: s.Why}
	l.Identity.MetricsURL = withoutSecrets(l.Identity.MetricsURL)
	l.Identity.GPUURL = withoutSecrets(l.Identity.GPUURL)
	if !s.Have {
		return l
	}
	r := &s.Reading
	l.Reading = &readingLine{
		At: r.At, Running: r.Running, Waiting: r.Waiting, KVFill: r.KVFill, KVFillMax: r.KVFillMax,
		KVCapacityTokens: r.KVCapacityTokens, Preemptions: r.Preemptions,
		PrefixQueries: r.PrefixQueries, PrefixHits: r.PrefixHits,
		PromptTokens: r.PromptTokens, GenerationTokens: r.GenerationTokens,
		PrefixHitRate: r.PrefixHitRate, PromptTokensPerS: r.PromptTokensPerS, GenerationTokensPerS: r.GenerationTokensPerS,
		TTFT: fromHistogram(r.TTFT), Gap: fromHistogram(r.Gap), Queue: fromHistogram(r.Queue),
		Prefill: fromHistogram(r.Prefill), E2E: fromHistogram(r.E2E),
		Restarted: r.Restarted, Notes: r.Notes,
	}
	return l
}

func (l *engineLine) status() engine.Status {
	s := engine.Status{Identity: engine.Identity(l.Identity), Why: l.Why}
	if l.Reading == nil {
		return s
	}
	r := l.Reading
	s.Have = true
	s.Reading = engine.Reading{
		At: r.At, Running: r.Running, Waiting: r.Waiting, KVFill: r.KVFill, KVFillMax: r.KVFillMax,
		KVCapacityTokens: r.KVCapacityTokens, Preemptions: r.Preemptions,
		PrefixQueries: r.PrefixQueries, PrefixHits: r.PrefixHits,
		PromptTokens: r.PromptTokens, GenerationTokens: r.GenerationTokens,
		PrefixHitRate: r.PrefixHitRate, PromptTokensPerS: r.PromptTokensPerS, GenerationTokensPerS: r.GenerationTokensPerS,
		TTFT: r.TTFT.histogram(), Gap: r.Gap.histogram(), Queue: r.Queue.histogram(),
		Prefill: r.Prefill.histogram(), E2E: r.E2E.histogram(),
		Restarted: r.Restarted, Notes: r.Notes,
	}
	return s
}

func fromHistogram(h engine.Histogram) histogramLine {
	n := len(h.Bounds)
	if n == 0 || n != len(h.Counts) || !math.IsInf(h.Bounds[n-1], 1) {
		return histogramLine{}
	}
	l := histogramLine{Sum: finite(h.Sum), Count: finite(h.Count), Bounds: []finite{}}
	for _, b := range h.Bounds[:n-1] {
		l.Bounds = append(l.Bounds, finite(b))
	}
	for _, c := range h.Counts {
		l.Counts = append(l.Counts, finite(c))
	}
	return l
}

func (l histogramLine) histogram() engine.Histogram {
	if len(l.Counts) != len(l.Bounds)+1 {
		return engine.Histogram{}
	}
	h := engine.Histogram{Sum: float64(l.Sum), Count: float64(l.Count)}
	for _, b := range l.Bounds {
		h.Bounds = append(h.Bounds, float64(b))
	}
	h.Bounds = append(h.Bounds, math.Inf(1))
	for _, c := range l.Counts {
		h.Counts = append(h.Counts, float64(c))
	}
	return h
}

func fromGPU(s *gpu.Status) *gpuLine {
	l := &gpuLine{At: s.At, Source: withoutSecrets(s.Source), Why: s.Why, Period: millis(s.Period), GPUs: []deviceLine{}}
	for _, r := range s.GPUs {
		l.GPUs = append(l.GPUs, deviceLine(r))
	}
	return l
}

func (l *gpuLine) status() gpu.Status {
	s := gpu.Status{At: l.At, Source: l.Source, Why: l.Why, Period: time.Duration(l.Period)}
	for _, d := range l.GPUs {
		s.GPUs = append(s.GPUs, gpu.Reading(d))
	}
	return s
}

// withoutSecrets takes the user and the values of the query out of every address
// in a text: both may be credentials.
func withoutSecrets(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	words := strings.Split(text, " ")
	for i, w := range words {
		u, err := url.Parse(w)
		if err != nil || u.Host == "" {
			continue
		}
		u.User = nil
		keys := []string{}
		for k := range u.Query() {
			keys = append(keys, url.QueryEscape(k)+"=…")
		}
		slices.Sort(keys)
		u.RawQuery = strings.Join(keys, "&")
		words[i] = u.String()
	}
	return strings.Join(words, " ")
}
