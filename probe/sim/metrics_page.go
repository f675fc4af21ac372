package sim

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// scrapedPage is the part of the metrics that is read at each scrape. All its values are of
// one moment.
type scrapedPage struct {
	snapshot func() snapshot
	rows     []scraped
	info     prometheus.Metric
}

// scraped is a value that a scrape takes from a snapshot.
type scraped struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	labels []string // values of the variable labels
	value  func(*snapshot) float64
}

// serve adds the values that are read at a scrape, and gives all that is published.
func (m *metrics) serve(s *setup, snap func() snapshot) *prometheus.Registry {
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
func scrapedRows(s *setup, labels prometheus.Labels) []scraped {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	var rows []scraped
	add := func(kind prometheus.ValueType, name, help string, value func(*snapshot) float64) {
		rows = append(rows, scraped{prometheus.NewDesc("vllm:"+name, help, nil, labels), kind, nil, value})
	}
	nothing := func(*snapshot) float64 { return 0 }
	add(gauge, "num_requests_running", "Requests in the batch.", func(s *snapshot) float64 { return float64(s.running) })
	add(gauge, "num_requests_waiting", "Requests in the queue.", func(s *snapshot) float64 { return float64(s.waiting) })
	add(gauge, "kv_cache_usage_perc", "Share of KV blocks in use, 0 to 1.", func(s *snapshot) float64 { return s.kvUsage })
	add(counter, "num_preemptions_total", "Requests thrown out of the batch for want of KV blocks.", func(s *snapshot) float64 { return float64(s.stats.preemptions) })
	add(counter, "prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.", func(s *snapshot) float64 { return float64(s.stats.prefixQueries) })
	add(counter, "prefix_cache_hits_total", "Prompt tokens found in the prefix cache.", func(s *snapshot) float64 { return float64(s.stats.prefixHits) })
	add(counter, "external_prefix_cache_queries_total", "Prompt tokens looked up in the cache of another server.", nothing)
	add(counter, "external_prefix_cache_hits_total", "Prompt tokens found in the cache of another server.", nothing)
	add(counter, "mm_cache_queries_total", "Images looked up in the cache of images.", nothing)
	add(counter, "mm_cache_hits_total", "Images found in the cache of images.", nothing)
	add(counter, "prompt_tokens_total", "Prompt tokens, with cached ones.", func(s *snapshot) float64 { return float64(s.stats.promptTokens) })
	add(counter, "generation_tokens_total", "Generated tokens.", func(s *snapshot) float64 { return float64(s.stats.generationTokens) })
	rows = append(rows, labelledRows(labels)...)
	if s.SpecTokens > 0 {
		rows = append(rows, draftRows(s, labels)...)
	}
	return rows
}

// labelledRows are the families with a series for each word of a list.
func labelledRows(labels prometheus.Labels) []scraped {
	var rows []scraped
	add := func(desc *prometheus.Desc, kind prometheus.ValueType, word string, value func(*snapshot) float64) {
		rows = append(rows, scraped{desc, kind, []string{word}, value})
	}
	byReason := prometheus.NewDesc("vllm:num_requests_waiting_by_reason", "Requests in the queue, by what they wait for.", []string{"reason"}, labels)
	add(byReason, prometheus.GaugeValue, "capacity", func(s *snapshot) float64 { return float64(s.waiting) })
	add(byReason, prometheus.GaugeValue, "deferred", func(*snapshot) float64 { return 0 })
	sleep := prometheus.NewDesc("vllm:engine_sleep_state", "1 for the state that the engine is in: it never sleeps.", []string{"sleep_state"}, labels)
	for state, value := range map[string]float64{"awake": 1, "weights_offloaded": 0, "discard_all": 0} {
		add(sleep, prometheus.GaugeValue, state, func(*snapshot) float64 { return value })
	}
	ended := prometheus.NewDesc("vllm:request_success_total", "Requests that ended, by reason.", []string{"finished_reason"}, labels)
	for _, f := range []finish{finishStop, finishLength, finishAbort, "error", "repetition"} {
		add(ended, prometheus.CounterValue, string(f), func(s *snapshot) float64 { return float64(s.stats.finished[f]) })
	}
	return rows
}

// draftRows are about speculative decoding.
func draftRows(s *setup, labels prometheus.Labels) []scraped {
	var rows []scraped
	add := func(name, help string, value func(*snapshot) float64) {
		rows = append(rows, scraped{prometheus.NewDesc("vllm:"+name, help, nil, labels), prometheus.CounterValue, nil, value})
	}
	add("spec_decode_num_drafts_total", "Steps with draft tokens.", func(s *snapshot) float64 { return float64(s.stats.drafts) })
	add("spec_decode_num_draft_tokens_total", "Draft tokens.", func(s *snapshot) float64 { return float64(s.stats.draftTokens) })
	add("spec_decode_num_accepted_tokens_total", "Draft tokens that the model agreed with.", func(s *snapshot) float64 { return float64(s.stats.acceptedTokens()) })
	place := prometheus.NewDesc("vllm:spec_decode_num_accepted_tokens_per_pos_total", "The same, by their place in the draft.", []string{"position"}, labels)
	for i := range s.SpecTokens {
		rows = append(rows, scraped{place, prometheus.CounterValue, []string{strconv.Itoa(i)},
			func(s *snapshot) float64 { return float64(s.stats.acceptedAt[i]) }})
	}
	return rows
}

// cacheInfo carries the KV cache's size in its labels; its value is always 1.
func cacheInfo(s *setup) prometheus.Metric {
	desc := prometheus.NewDesc("vllm:cache_config_info", "The KV cache.", nil, prometheus.Labels{
		"engine": "0", "block_size": strconv.Itoa(s.BlockTokens), "num_gpu_blocks": strconv.Itoa(s.kvBlocks),
		"kv_cache_size_tokens": strconv.Itoa(s.kvTokens()), "cache_dtype": s.shape.kv.name,
		"kv_cache_max_concurrency": strconv.FormatFloat(float64(s.kvTokens())/float64(s.MaxModelLen), 'g', -1, 64),
		"gpu_memory_utilization":   strconv.FormatFloat(usableMemory, 'g', -1, 64),
		"enable_prefix_caching":    map[bool]string{true: "True", false: "False"}[!s.NoPrefixCache],
		"num_cpu_blocks":           "None", "num_gpu_blocks_override": "None", "sliding_window": "None",
	})
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1)
}
