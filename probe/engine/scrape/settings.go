package scrape

import (
	"strconv"

	"sonde/probe/opt"
)

// toldSettings are labels of configuration metrics that matter to who reads a
// measurement, under the names that engines give them. Others, such as process numbers
// and defaults that are off, stay out.
var toldSettings = []string{
	"block_size", "page_size", // vLLM and LMDeploy; SGLang and TensorRT-LLM
	"cache_dtype", "dtype",
	"enable_prefix_caching", "enable_block_reuse",
	"gpu_memory_utilization", "free_gpu_memory_fraction", "cache_max_entry_count",
	"max_batch_size", "session_len", "tp", "dp",
}

// settings reads how the engine was started from the labels of its configuration: of all
// ranks those of the first, since ranks are started alike.
func (s *snapshot) settings(v view) {
	list := v.table.settings
	if list == nil {
		list = v.table.config
	}
	p, ok := v.pick(list, "")
	if !ok || v.several || len(s.Settings) > 0 {
		return
	}
	series := v.series(p, p.terms[0], "")
	if len(series) == 0 {
		return
	}
	labels := series[0].Labels
	for _, name := range toldSettings {
		if value := labels[name]; value != "" && value != "None" {
			s.Settings = append(s.Settings, name+" "+value)
		}
	}
	for _, name := range []string{"block_size", "page_size"} {
		if tokens, err := strconv.ParseFloat(labels[name], 64); err == nil && tokens > 0 {
			s.KVBlockTokens = opt.Of(tokens)
		}
	}
}
