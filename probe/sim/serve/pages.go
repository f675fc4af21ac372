package serve

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"sonde/probe/sim/core"
)

// page is what is read at each scrape, all of it at the same moment. It describes
// nothing in advance, which prometheus allows.
type page func(*writer)

// Describe implements prometheus.Collector.
func (p page) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (p page) Collect(out chan<- prometheus.Metric) { p(&writer{out: out}) }

// writer writes a page.
type writer struct {
	out    chan<- prometheus.Metric
	prefix string            // of all names
	labels prometheus.Labels // of all values
}

func (w *writer) gauge(name, help string, value float64, labels ...string) {
	w.write(prometheus.GaugeValue, name, help, value, labels)
}

func (w *writer) counter(name, help string, value int, labels ...string) {
	w.write(prometheus.CounterValue, name, help, float64(value), labels)
}

// write adds labels, in pairs of name and value, to those of the page.
func (w *writer) write(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	all := maps.Clone(w.labels)
	for pair := range slices.Chunk(labels, 2) {
		all[pair[0]] = pair[1]
	}
	w.out <- prometheus.MustNewConstMetric(prometheus.NewDesc(w.prefix+name, help, nil, all), kind, value)
}

// addScraped publishes what is read at each scrape.
func (m *Metrics) addScraped(s *core.Setup, snapshot func() core.Snapshot) {
	m.registry.MustRegister(page(func(w *writer) {
		now := snapshot()
		w.prefix, w.labels = "vllm:", m.labels
		w.writeQueue(&now)
		w.writeTokens(&now.Stats)
		w.labels = prometheus.Labels{"engine": "0"}
		w.writeCacheInfo(s)
	}))
}

func (w *writer) writeQueue(now *core.Snapshot) {
	w.gauge("num_requests_running", "Requests in the batch.", float64(now.Running))
	w.gauge("num_requests_waiting", "Requests in the queue.", float64(now.Waiting))
	const byReason = "Requests in the queue, by what they wait for."
	w.gauge("num_requests_waiting_by_reason", byReason, float64(now.Waiting), "reason", "capacity")
	w.gauge("num_requests_waiting_by_reason", byReason, 0, "reason", "deferred")
	w.gauge("kv_cache_usage_perc", "Share of KV blocks in use, 0 to 1.", now.KVUsage)
	for state, value := range map[string]float64{"awake": 1, "weights_offloaded": 0, "discard_all": 0} {
		w.gauge("engine_sleep_state", "1 for the state that the engine is in: it never sleeps.", value, "sleep_state", state)
	}
	w.counter("num_preemptions_total", "Requests removed from the batch for lack of KV blocks.", now.Stats.Preemptions)
	for _, reason := range []core.FinishReason{core.FinishStop, core.FinishLength, core.FinishAbort, "error", "repetition"} {
		w.counter("request_success_total", "Requests that ended, by reason.", now.Stats.Finished[reason], "finished_reason", string(reason))
	}
}

// writeTokens has zeros for what this engine does not have, such as a cache for images.
func (w *writer) writeTokens(st *core.Stats) {
	w.counter("prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.", st.PrefixQueries)
	w.counter("prefix_cache_hits_total", "Prompt tokens found in the prefix cache.", st.PrefixHits)
	w.counter("external_prefix_cache_queries_total", "Prompt tokens looked up in the cache of another server.", 0)
	w.counter("external_prefix_cache_hits_total", "Prompt tokens found in the cache of another server.", 0)
	w.counter("mm_cache_queries_total", "Images looked up in the cache of images.", 0)
	w.counter("mm_cache_hits_total", "Images found in the cache of images.", 0)
	w.counter("prompt_tokens_total", "Prompt tokens, with cached ones.", st.PromptTokens)
	w.counter("prompt_tokens_cached_total", "Prompt tokens found in a cache.", st.CachedTokens)
	const bySource = "Prompt tokens by where their KV came from."
	w.counter("prompt_tokens_by_source_total", bySource, st.PromptTokens-st.CachedTokens, "source", "local_compute")
	w.counter("prompt_tokens_by_source_total", bySource, st.CachedTokens, "source", "local_cache_hit")
	w.counter("prompt_tokens_by_source_total", bySource, 0, "source", "external_kv_transfer")
	w.counter("generation_tokens_total", "Generated tokens.", st.GenerationTokens)
	if len(st.AcceptedAt) == 0 { // no speculative decoding
		return
	}
	w.counter("spec_decode_num_drafts_total", "Steps with draft tokens.", st.Drafts)
	w.counter("spec_decode_num_draft_tokens_total", "Draft tokens.", st.DraftTokens)
	w.counter("spec_decode_num_accepted_tokens_total", "Draft tokens that the model accepted.", st.AcceptedTokens())
	for i, n := range st.AcceptedAt {
		w.counter("spec_decode_num_accepted_tokens_per_pos_total", "The same, by their place in the draft.", n, "position", strconv.Itoa(i))
	}
}

// writeCacheInfo carries the KV cache's size in its labels; its value is always 1.
func (w *writer) writeCacheInfo(s *core.Setup) {
	w.gauge("cache_config_info", "The KV cache.", 1,
		"block_size", strconv.Itoa(s.BlockTokens), "num_gpu_blocks", strconv.Itoa(s.KVBlocks),
		"kv_cache_size_tokens", strconv.Itoa(s.KVTokens()), "cache_dtype", s.KVDtype,
		"kv_cache_max_concurrency", fmt.Sprint(float64(s.KVTokens())/float64(s.MaxModelLen)),
		"gpu_memory_utilization", fmt.Sprint(core.UsableMemory),
		"enable_prefix_caching", map[bool]string{true: "True", false: "False"}[!s.NoPrefixCache],
		"num_cpu_blocks", "None", "num_gpu_blocks_override", "None", "sliding_window", "None")
}

// newHardware publishes the simulated GPUs as a DCGM exporter would: its names, labels
// and units (ratios 0 to 1, per cent, MiB, W, °C, MHz).
func newHardware(s *core.Setup, snapshot func() core.Snapshot) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(page(func(w *writer) {
		for i, g := range snapshot().GPUs {
			w.writeGPU(s, &g, i)
		}
	}))
	return reg
}

func (w *writer) writeGPU(s *core.Setup, g *core.GPUState, i int) {
	index := strconv.Itoa(i)
	w.prefix, w.labels = "DCGM_FI_", prometheus.Labels{
		"gpu": index, "UUID": fmt.Sprintf("GPU-51d0e000-0000-4000-%04x-%012d", s.Instance, i),
		"device": "sim" + index, "modelName": s.DeviceName(), "Hostname": serverName,
	}
	w.gauge("PROF_GR_ENGINE_ACTIVE", "Ratio of time a kernel was running.", g.Busy)
	w.gauge("PROF_SM_ACTIVE", "Ratio of SM time with a warp resident.", g.SM)
	w.gauge("PROF_PIPE_TENSOR_ACTIVE", "Ratio of cycles of the tensor cores.", g.Tensor)
	w.gauge("PROF_DRAM_ACTIVE", "Ratio of the memory bandwidth peak.", g.DRAM)
	w.gauge("DEV_GPU_UTIL", "Share of time a kernel was running (in %).", math.Round(100*g.Busy))
	w.gauge("DEV_MEM_COPY_UTIL", "Share of time memory was accessed (in %).", math.Round(100*g.DRAM))
	w.gauge("DEV_POWER_USAGE", "Power draw (in W).", math.Round(g.Machine.Watts(g.Activity)))
	w.gauge("DEV_POWER_MGMT_LIMIT", "Power limit (in W).", g.Machine.MaxWatts)
	w.gauge("DEV_GPU_TEMP", "GPU temperature (in C).", g.Celsius())
	w.gauge("DEV_SM_CLOCK", "SM clock (in MHz).", math.Round(g.Machine.ClockMHz*g.Machine.Clock))
	w.gauge("DEV_CLOCK_THROTTLE_REASONS", "Why the clock is lower than it could be (bit mask).", g.ThrottleReasons())
	w.gauge("DEV_XID_ERRORS", "Last Xid error.", 0)
	w.gauge("DEV_FB_USED", "Memory used (in MiB).", mib(g.MemoryUsed))
	w.gauge("DEV_FB_FREE", "Memory free (in MiB).", mib(g.Machine.Peaks.Memory-g.MemoryUsed))
	w.counter("DEV_TOTAL_ENERGY_CONSUMPTION", "Total energy since start (in mJ).", int(1000*g.Joules))
}

func mib(bytes float64) float64 { return math.Round(bytes / (1 << 20)) }
