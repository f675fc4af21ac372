package serve

import (
	"bufio"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prom "github.com/prometheus/common/model"

	"sonde/probe/sim/core"
)

// families reads a metrics page, and finds one sample by its family and a label.
type families map[string]*dto.MetricFamily

func scrape(t *testing.T, url string) families {
	t.Helper()
	parser := expfmt.NewTextParser(prom.UTF8Validation)
	families, err := parser.TextToMetricFamilies(call(t, "GET", url, "").Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

func (p families) value(t *testing.T, name, label string) float64 {
	t.Helper()
	f := p[name]
	if f == nil {
		t.Fatalf("no family %s", name)
	}
	for _, m := range f.Metric {
		for _, l := range m.Label {
			if label == "" || l.GetName()+"="+l.GetValue() == label {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	t.Fatalf("no sample of %s with %s", name, label)
	return 0
}

func TestMetricsPage(t *testing.T) {
	base := serve(t, fast)
	for range 3 {
		decoded(t, post(t, base+"/v1/chat/completions", map[string]any{"messages": user("Hello there, world."), "max_tokens": 20, "ignore_eos": true}))
	}
	p := scrape(t, base+"/metrics")
	for name, want := range map[string]float64{
		"vllm:prompt_tokens_total": 27, "vllm:generation_tokens_total": 60, "vllm:num_preemptions_total": 0,
		"vllm:prefix_cache_queries_total": 27, "vllm:prefix_cache_hits_total": 0, "vllm:cache_config_info": 1,
		"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, "vllm:kv_cache_usage_perc": 0,
		"vllm:time_to_first_token_seconds": 3, "vllm:inter_token_latency_seconds": 57,
		"vllm:e2e_request_latency_seconds": 3, "vllm:request_queue_time_seconds": 3,
		"vllm:request_prefill_time_seconds": 3, "vllm:request_decode_time_seconds": 3,
		"vllm:iteration_tokens_total": 60,
	} {
		if got := p.value(t, name, "engine=0"); got != want {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	if got := p.value(t, "vllm:request_success_total", "finished_reason=length"); got != 3 {
		t.Errorf("%g requests ended by length, want 3", got)
	}
	if got := p.value(t, "vllm:num_requests_running", "model_name=sim/Llama-3.1-8B"); got != 0 {
		t.Errorf("%g running", got)
	}
}

// While a stream runs, it shows on both pages; after the client has hung up
// nothing of it is left.
func TestHangUpLeavesNothing(t *testing.T) {
	base := serve(t, core.Options{})
	r := post(t, base+"/v1/chat/completions", map[string]any{"messages": user(strings.Repeat("word ", 400)), "stream": true, "max_tokens": 5000, "ignore_eos": true})
	lines := bufio.NewScanner(r.Body)
	for n := 0; n < 60 && lines.Scan(); n++ { // 30 events: decoding is under way
	}
	p := scrape(t, base+"/metrics")
	if p.value(t, "vllm:num_requests_running", "") != 1 || p.value(t, "vllm:kv_cache_usage_perc", "") < 400.0/32768 {
		t.Errorf("running %g, KV %g while a stream runs", p.value(t, "vllm:num_requests_running", ""), p.value(t, "vllm:kv_cache_usage_perc", ""))
	}
	gpu := scrape(t, base+"/dcgm/metrics")
	if dram := gpu.value(t, "DCGM_FI_PROF_DRAM_ACTIVE", ""); dram <= 0 || dram > 0.8 {
		t.Errorf("DRAM activity %g while decoding", dram)
	}
	_ = r.Body.Close()
	deadline := time.Now().Add(10 * time.Second)
	for {
		p = scrape(t, base+"/metrics")
		if p.value(t, "vllm:num_requests_running", "") == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the request is still running long after the client hung up")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if kv := p.value(t, "vllm:kv_cache_usage_perc", ""); kv != 0 {
		t.Errorf("KV usage is %g after the hang-up", kv)
	}
	if n := p.value(t, "vllm:request_success_total", "finished_reason=abort"); n != 1 {
		t.Errorf("%g aborted requests, want 1", n)
	}
}

func TestHardwarePage(t *testing.T) {
	base := serve(t, core.Options{Model: "Llama-3.1-70B", GPU: "H100"})
	p := scrape(t, base+"/dcgm/metrics")
	if n := len(p["DCGM_FI_PROF_SM_ACTIVE"].Metric); n != 4 {
		t.Fatalf("%d GPUs, want 4", n)
	}
	for name, want := range map[string]float64{ // idle
		"DCGM_FI_PROF_SM_ACTIVE": 0, "DCGM_FI_PROF_DRAM_ACTIVE": 0, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": 0,
		"DCGM_FI_DEV_GPU_UTIL": 0, "DCGM_FI_DEV_POWER_USAGE": 70, "DCGM_FI_DEV_SM_CLOCK": 1980,
		// (141.1 + 10.74) GB / 4 + 1.5 GB = 39.46 GB = 37633 MiB of 76294
		"DCGM_FI_DEV_FB_USED": 37633, "DCGM_FI_DEV_FB_FREE": 38661,
	} {
		if got := p.value(t, name, "modelName=simulated H100 80GB HBM3"); got != want {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
}
