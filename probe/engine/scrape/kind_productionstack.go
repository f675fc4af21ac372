package scrape

import "sonde/probe/engine"

// productionStackKind is the router of vLLM's production stack: vLLM's names, told
// apart by server. Counters' names are gauges here and do not count.
var productionStackKind = kind{
	id: "vllm-production-stack-router", name: "vLLM production-stack router",
	prefixes: []string{"vllm:"},
	with:     []string{"server"},
	table: &table{
		prefixes: []string{"vllm:"},
		gauges: map[engine.Field]names{
			engine.FieldRunning: {"num_requests_running"},
			engine.FieldWaiting: {"num_requests_waiting"},
			engine.FieldPaused:  {"num_requests_swapped"},
			engine.FieldServers: {"healthy_pods_total"},
		},
		kvFill: names{"kv_cache_usage_perc", "gpu_cache_usage_perc"},
		router: true,
		notes:  []string{"this is the page of a router: numbers are sums over its servers"},
	},
}
