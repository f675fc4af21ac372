package scrape

import (
	"slices"
	"testing"
)

// The labels as they stand in the pages of the engines; of a block's size only what the
// page says.
func TestSettingsSeen(t *testing.T) {
	for file, want := range map[string]struct {
		block float64
		some  []string
	}{
		"vllm-2026-08-dp2.txt":            {16, []string{"block_size 16", "cache_dtype auto", "enable_prefix_caching True", "gpu_memory_utilization 0.92"}},
		"sglang-0.5.9-dp2.txt":            {64, []string{"page_size 64"}},
		"trtllm-serve-1.3-prometheus.txt": {32, []string{"page_size 32", "dtype auto", "enable_block_reuse True", "free_gpu_memory_fraction 0.9"}},
		"lmdeploy-0.16.0.txt":             {64, []string{"block_size 64", "enable_prefix_caching True", "cache_max_entry_count 0.8", "max_batch_size 256", "session_len 32768", "tp 1", "dp 1"}},
	} {
		got := take(t, fixture(t, file), "")
		if got.KVBlockTokens.V != want.block || !slices.Equal(got.Settings, want.some) {
			t.Errorf("%s: block %v, settings %q", file, got.KVBlockTokens, got.Settings)
		}
	}
	if got := take(t, "vllm:cache_config_info{block_size=\"None\",gpu_memory_utilization=\"0.9\"} 1\n", ""); got.KVBlockTokens.OK || len(got.Settings) != 1 {
		t.Errorf("%v %q", got.KVBlockTokens, got.Settings)
	}
}
