package serve

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prom "github.com/prometheus/common/model"

	"sonde/probe/sim/core"
	"sonde/probe/sim/faults"
)

// notOurs are families of a real vLLM's page that are not the engine's: the Python
// process around it and the moments at which counters were made.
func notOurs(name string) bool {
	return strings.HasSuffix(name, "_created") || strings.HasPrefix(name, "python_") || strings.HasPrefix(name, "process_") ||
		strings.Contains(name, "lmcache")
}

// Every family of a recorded page of vLLM is there, with its type, the same labels
// and the same buckets up to the model's length.
func TestFamiliesAreThoseOfVLLM(t *testing.T) {
	file, err := os.Open("../../engine/scrape/testdata/vllm-2026-08-dp2.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parser := expfmt.NewTextParser(prom.UTF8Validation)
	real, err := parser.TextToMetricFamilies(file)
	if err != nil {
		t.Fatal(err)
	}
	ours := scrape(t, serve(t, fast)+"/metrics")
	checked := 0
	for name, theirs := range real {
		if notOurs(name) {
			continue
		}
		checked++
		f := ours[name]
		if f == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if f.GetType() != theirs.GetType() {
			t.Errorf("%s is a %v, vLLM's a %v", name, f.GetType(), theirs.GetType())
		}
		if a, b := labelNames(f), labelNames(theirs); name != "vllm:cache_config_info" && a != b {
			t.Errorf("%s has the labels %s, vLLM's %s", name, a, b)
		}
		if a, b := bounds(f), bounds(theirs); !strings.HasPrefix(b, a) {
			t.Errorf("%s has the buckets %s, vLLM's %s", name, a, b)
		}
	}
	if checked < 25 {
		t.Errorf("only %d families compared", checked)
	}
}

func labelNames(f *dto.MetricFamily) string {
	names := map[string]bool{}
	for _, l := range f.Metric[0].Label {
		names[l.GetName()] = true
	}
	return fmt.Sprint(names)
}

func bounds(f *dto.MetricFamily) string {
	var b strings.Builder
	for _, bucket := range f.Metric[0].GetHistogram().GetBucket() {
		if v := bucket.GetUpperBound(); v < 1e300 {
			fmt.Fprintf(&b, "%g ", v)
		}
	}
	return b.String()
}

// Two answers of 21 tokens to prompts of 100 words: the second finds 6 blocks of 16.
func TestCountsByHand(t *testing.T) {
	base := serve(t, fast)
	for range 2 {
		decoded(t, post(t, base+"/v1/completions", map[string]any{"prompt": strings.Repeat("word ", 100), "max_tokens": 21, "ignore_eos": true}))
	}
	p := scrape(t, base+"/metrics")
	for _, c := range []struct {
		name, label string
		want        float64
	}{
		{"vllm:prompt_tokens_total", "", 200},
		{"vllm:prompt_tokens_cached_total", "", 96},
		{"vllm:prompt_tokens_by_source_total", "source=local_compute", 104},
		{"vllm:prompt_tokens_by_source_total", "source=local_cache_hit", 96},
		{"vllm:prompt_tokens_by_source_total", "source=external_kv_transfer", 0},
		{"vllm:request_success_total", "finished_reason=length", 2},
		{"vllm:request_success_total", "finished_reason=repetition", 0},
		{"vllm:engine_sleep_state", "sleep_state=awake", 1},
		{"vllm:num_requests_waiting_by_reason", "reason=capacity", 0},
	} {
		if got := p.value(t, c.name, c.label); got != c.want {
			t.Errorf("%s %s is %g, want %g", c.name, c.label, got, c.want)
		}
	}
	for name, want := range map[string]float64{
		"vllm:request_prompt_tokens": 200, "vllm:request_generation_tokens": 42, "vllm:request_max_num_generation_tokens": 42,
		"vllm:request_params_max_tokens": 42, "vllm:request_params_n": 2, "vllm:request_prefill_kv_computed_tokens": 104,
	} {
		if h := p[name].Metric[0].GetHistogram(); h.GetSampleSum() != want || h.GetSampleCount() != 2 {
			t.Errorf("%s has %d samples with a sum of %g, want 2 and %g", name, h.GetSampleCount(), h.GetSampleSum(), want)
		}
	}
	// The mean time per token is the time of decoding over 20 tokens.
	decoding := p["vllm:request_decode_time_seconds"].Metric[0].GetHistogram().GetSampleSum()
	perToken := p["vllm:request_time_per_output_token_seconds"].Metric[0].GetHistogram().GetSampleSum()
	if math.Abs(perToken-decoding/20) > 1e-4*perToken {
		t.Errorf("the times per token add up to %g, want %g", perToken, decoding/20)
	}
}

// 0.4 of 1,410 MHz are 564; the reason is bit 0x20, thermal.
func TestThrottlingShowsOnTheHardwarePage(t *testing.T) {
	s := newEngine(t, core.Options{Faults: faults.Faults{Throttle: 0.4}})
	gauge := func(name string) float64 {
		families, err := newHardware(s.setup, s.driver.Snapshot).Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == name {
				return f.Metric[0].GetGauge().GetValue()
			}
		}
		t.Fatalf("no %s", name)
		return 0
	}
	for name, want := range map[string]float64{"DCGM_FI_DEV_SM_CLOCK": 564, "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": 0x20, "DCGM_FI_DEV_GPU_TEMP": 88} {
		if got := gauge(name); got != want {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	if err := s.timetable.ChangeFaults("throttle=off"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"DCGM_FI_DEV_SM_CLOCK": 1410, "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": 1, "DCGM_FI_DEV_GPU_TEMP": 34} {
		if got := gauge(name); got != want {
			t.Errorf("%s is %g when healed and idle, want %g", name, got, want)
		}
	}
}

func TestPrefillGPUsHaveRowsOfTheirOwn(t *testing.T) {
	o := fast
	o.Disaggregated, o.TP = true, 2
	p := scrape(t, serve(t, o)+"/dcgm/metrics")
	if n := len(p["DCGM_FI_PROF_SM_ACTIVE"].Metric); n != 4 {
		t.Errorf("%d GPUs of two pairs", n)
	}
}

func TestDraftsAreCounted(t *testing.T) {
	o := fast
	o.SpecTokens, o.SpecAcceptance = 3, 1
	base := serve(t, o)
	v := decoded(t, post(t, base+"/v1/completions", map[string]any{"prompt": "a b c", "max_tokens": 41, "ignore_eos": true}))
	if v["usage"].(map[string]any)["completion_tokens"] != 41.0 {
		t.Errorf("%v", v["usage"])
	}
	// The first token comes without drafts, the other forty in ten steps of four.
	p := scrape(t, base+"/metrics")
	for name, want := range map[string]float64{
		"vllm:spec_decode_num_drafts_total": 10, "vllm:spec_decode_num_draft_tokens_total": 30, "vllm:spec_decode_num_accepted_tokens_total": 30,
		"vllm:generation_tokens_total": 41, "vllm:inter_token_latency_seconds": 10,
	} {
		if got := p.value(t, name, ""); got != want {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	if got := p.value(t, "vllm:spec_decode_num_accepted_tokens_per_pos_total", "position=2"); got != 10 {
		t.Errorf("%g accepted at the third place", got)
	}
}
