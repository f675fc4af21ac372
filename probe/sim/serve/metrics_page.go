package serve

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"sonde/probe/sim/core"
)

// scrapedPage is the part of the metrics that is read at each scrape. All its values are of
// one moment.
type scrapedPage struct {
	snapshot func() core.Snapshot
	rows     []scraped
	info     prometheus.Metric
}

// scraped is a value that a scrape takes from a snapshot.
type scraped struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	labels []string // values of the variable labels
	value  func(*core.Snapshot) float64
}

// serve adds the values that are read at a scrape, and gives all that is published.
func (m *metrics) serve(s *core.Setup, snap func() core.Snapshot) *prometheus.Registry {
	m.registry.MustRegister(&scrapedPage{snapshot: snap, rows: scrapedRows(s, m.labels), info: cacheInfo(s)})
	return m.registry
}

// Describe implements prometheus.Collector.
func (p *scrapedPage) Describe(out chan<- *prometheus.Desc) {
	for _, s := range p.rows {
		out <- s.desc
	}
	out <- p.info.Desc()
}

// Collect implements prometheus.Collector.
func (p *scrapedPage) Collect(out chan<- prometheus.Metric) {
	snap := p.snapshot()
	for _, s := range p.rows {
		out <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value(&snap), s.labels...)
	}
	out <- p.info
}

// scrapedRows are all of them. What this engine does not have, such as a cache for
// images, counts nothing.
func scrapedRows(s *core.Setup, labels prometheus.Labels) []scraped {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	var rows []scraped
	add := func(kind prometheus.ValueType, name, help string, value func(*core.Snapshot) float64) {
		rows = append(rows, scraped{prometheus.NewDesc("vllm:"+name, help, nil, labels), kind, nil, value})
	}
	nothing := func(*core.Snapshot) float64 { return 0 }
	add(gauge, "num_requests_running", "Requests in the batch.", func(s *core.Snapshot) float64 { return float64(s.Running) })
	add(gauge, "num_requests_waiting", "Requests in the queue.", func(s *core.Snapshot) float64 { return float64(s.Waiting) })
	add(gauge, "kv_cache_usage_perc", "Share of KV blocks in use, 0 to 1.", func(s *core.Snapshot) float64 { return s.KVUsage })
	add(counter, "num_preemptions_total", "Requests thrown out of the batch for want of KV blocks.", func(s *core.Snapshot) float64 { return float64(s.Stats.Preemptions) })
	add(counter, "prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.", func(s *core.Snapshot) float64 { return float64(s.Stats.PrefixQueries) })
	add(counter, "prefix_cache_hits_total", "Prompt tokens found in the prefix cache.", func(s *core.Snapshot) float64 { return float64(s.Stats.PrefixHits) })
	add(counter, "external_prefix_cache_queries_total", "Prompt tokens looked up in the cache of another server.", nothing)
	add(counter, "external_prefix_cache_hits_total", "Prompt tokens found in the cache of another server.", nothing)
	add(counter, "mm_cache_queries_total", "Images looked up in the cache of images.", nothing)
	add(counter, "mm_cache_hits_total", "Images found in the cache of images.", nothing)
	add(counter, "prompt_tokens_total", "Prompt tokens, with cached ones.", func(s *core.Snapshot) float64 { return float64(s.Stats.PromptTokens) })
	add(counter, "generation_tokens_total", "Generated tokens.", func(s *core.Snapshot) float64 { return float64(s.Stats.GenerationTokens) })
	rows = append(rows, labelledRows(labels)...)
	if s.SpecTokens > 0 {
		rows = append(rows, draftRows(s, labels)...)
	}
	return rows
}

// labelledRows are the families with a series for each word of a list.
func labelledRows(labels prometheus.Labels) []scraped {
	var rows []scraped
	add := func(desc *prometheus.Desc, kind prometheus.ValueType, word string, value func(*core.Snapshot) float64) {
		rows = append(rows, scraped{desc, kind, []string{word}, value})
	}
	byReason := prometheus.NewDesc("vllm:num_requests_waiting_by_reason", "Requests in the queue, by what they wait for.", []string{"reason"}, labels)
	add(byReason, prometheus.GaugeValue, "capacity", func(s *core.Snapshot) float64 { return float64(s.Waiting) })
	add(byReason, prometheus.GaugeValue, "deferred", func(*core.Snapshot) float64 { return 0 })
	sleep := prometheus.NewDesc("vllm:engine_sleep_state", "1 for the state that the engine is in: it never sleeps.", []string{"sleep_state"}, labels)
	for state, value := range map[string]float64{"awake": 1, "weights_offloaded": 0, "discard_all": 0} {
		add(sleep, prometheus.GaugeValue, state, func(*core.Snapshot) float64 { return value })
	}
	ended := prometheus.NewDesc("vllm:request_success_total", "Requests that ended, by reason.", []string{"finished_reason"}, labels)
	for _, f := range []core.FinishReason{core.FinishStop, core.FinishLength, core.FinishAbort, "error", "repetition"} {
		add(ended, prometheus.CounterValue, string(f), func(s *core.Snapshot) float64 { return float64(s.Stats.Finished[f]) })
	}
	return rows
}

// draftRows are about speculative decoding.
func draftRows(s *core.Setup, labels prometheus.Labels) []scraped {
	var rows []scraped
	add := func(name, help string, value func(*core.Snapshot) float64) {
		rows = append(rows, scraped{prometheus.NewDesc("vllm:"+name, help, nil, labels), prometheus.CounterValue, nil, value})
	}
	add("spec_decode_num_drafts_total", "Steps with draft tokens.", func(s *core.Snapshot) float64 { return float64(s.Stats.Drafts) })
	add("spec_decode_num_draft_tokens_total", "Draft tokens.", func(s *core.Snapshot) float64 { return float64(s.Stats.DraftTokens) })
	add("spec_decode_num_accepted_tokens_total", "Draft tokens that the model agreed with.", func(s *core.Snapshot) float64 { return float64(s.Stats.AcceptedTokens()) })
	place := prometheus.NewDesc("vllm:spec_decode_num_accepted_tokens_per_pos_total", "The same, by their place in the draft.", []string{"position"}, labels)
	for i := range s.SpecTokens {
		rows = append(rows, scraped{place, prometheus.CounterValue, []string{strconv.Itoa(i)},
			func(s *core.Snapshot) float64 { return float64(s.Stats.AcceptedAt[i]) }})
	}
	return rows
}

// cacheInfo carries the KV cache's size in its labels; its value is always 1.
func cacheInfo(s *core.Setup) prometheus.Metric {
	desc := prometheus.NewDesc("vllm:cache_config_info", "The KV cache.", nil, prometheus.Labels{
		"engine": "0", "block_size": strconv.Itoa(s.BlockTokens), "num_gpu_blocks": strconv.Itoa(s.KVBlocks),
		"kv_cache_size_tokens": strconv.Itoa(s.KVTokens()), "cache_dtype": s.KVDtype,
		"kv_cache_max_concurrency": strconv.FormatFloat(float64(s.KVTokens())/float64(s.MaxModelLen), 'g', -1, 64),
		"gpu_memory_utilization":   strconv.FormatFloat(core.UsableMemory, 'g', -1, 64),
		"enable_prefix_caching":    map[bool]string{true: "True", false: "False"}[!s.NoPrefixCache],
		"num_cpu_blocks":           "None", "num_gpu_blocks_override": "None", "sliding_window": "None",
	})
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1)
}
