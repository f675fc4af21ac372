package scrape

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/engine"
)

// series reads pages one after the other, seconds apart.
func series(t *testing.T, every time.Duration, pages ...string) []snapshot {
	t.Helper()
	var out []snapshot
	var prev *snapshot
	for i, page := range pages {
		s := take(t, page, "")
		s.At = time.Unix(1700000000, 0).Add(time.Duration(i) * every)
		s.since(prev)
		out = append(out, s)
		prev = &out[i]
	}
	return out
}

func TestRatesOverARestart(t *testing.T) {
	page := func(tokens, started int) string {
		return fmt.Sprintf("vllm:generation_tokens_total %d\nprocess_start_time_seconds %d\n", tokens, started)
	}
	got := series(t, time.Second, page(1000, 100), page(1500, 100), page(40, 200), page(140, 200))
	if got[0].GenerationTokensPerS.OK || got[0].Restarted {
		t.Error("the first reading has no rate and no restart")
	}
	check(t, "second", got[1].GenerationTokensPerS, 500)
	if got[2].GenerationTokensPerS.OK || !got[2].Restarted {
		t.Errorf("third: rate %v, restarted %v; want an unknown rate and a restart", got[2].GenerationTokensPerS, got[2].Restarted)
	}
	check(t, "fourth", got[3].GenerationTokensPerS, 100)
	if got[3].Restarted {
		t.Error("the fourth reading is no restart")
	}
}

func TestWhatTellsARestart(t *testing.T) {
	tests := []struct {
		name, before, after string
		want                bool
	}{
		{"nothing moved", "vllm:prompt_tokens_total 5", "vllm:prompt_tokens_total 5", false},
		{"start time, counters higher", "vllm:prompt_tokens_total 5\nprocess_start_time_seconds 1", "vllm:prompt_tokens_total 9\nprocess_start_time_seconds 2", true},
		{"a counter fell", "vllm:num_preemptions_total 5", "vllm:num_preemptions_total 0", true},
		{"one rank fell, the sum rose", "vllm:prompt_tokens_total{engine=\"0\"} 5\nvllm:prompt_tokens_total{engine=\"1\"} 5",
			"vllm:prompt_tokens_total{engine=\"0\"} 1\nvllm:prompt_tokens_total{engine=\"1\"} 50", true},
		{"a rank is gone", "vllm:prompt_tokens_total{engine=\"0\"} 5\nvllm:prompt_tokens_total{engine=\"1\"} 5", "vllm:prompt_tokens_total{engine=\"0\"} 20", false},
		{"a metric is not on the page this time", "vllm:prompt_tokens_total 5\nvllm:generation_tokens_total 5", "vllm:prompt_tokens_total 6", false},
		{"a counter is no number this time", "vllm:prompt_tokens_total 5", "vllm:prompt_tokens_total NaN", false},
		{"the sum of a histogram fell", "vllm:e2e_request_latency_seconds_bucket{le=\"+Inf\"} 5\nvllm:e2e_request_latency_seconds_sum 9", "vllm:e2e_request_latency_seconds_bucket{le=\"+Inf\"} 6\nvllm:e2e_request_latency_seconds_sum 2", true},
		{"a histogram fell", "vllm:e2e_request_latency_seconds_bucket{le=\"+Inf\"} 5", "vllm:e2e_request_latency_seconds_bucket{le=\"+Inf\"} 1", true},
	}
	for _, tt := range tests {
		got := series(t, time.Second, tt.before, tt.after)[1]
		if got.Restarted != tt.want {
			t.Errorf("%s: restarted = %v, want %v", tt.name, got.Restarted, tt.want)
		}
		if got.Restarted && got.PromptTokensPerS.OK {
			t.Errorf("%s: the rate %v spans a restart", tt.name, got.PromptTokensPerS)
		}
	}
}

func TestARankThatJoinsGivesNoRate(t *testing.T) {
	got := series(t, time.Second, `vllm:prompt_tokens_total{engine="0"} 5`,
		"vllm:prompt_tokens_total{engine=\"0\"} 6\nvllm:prompt_tokens_total{engine=\"1\"} 1000000",
		"vllm:prompt_tokens_total{engine=\"0\"} 8\nvllm:prompt_tokens_total{engine=\"1\"} 1000001")
	if got[1].PromptTokensPerS.OK || got[1].Restarted {
		t.Errorf("rate %v, restarted %v; want unknown and no restart", got[1].PromptTokensPerS, got[1].Restarted)
	}
	check(t, "after it has joined", got[2].PromptTokensPerS, 3)
}

func TestPrefixHitRate(t *testing.T) {
	page := func(queries, hits int) string {
		return fmt.Sprintf("vllm:prefix_cache_queries_total %d\nvllm:prefix_cache_hits_total %d\n", queries, hits)
	}
	got := series(t, 2*time.Second, page(1000, 900), page(1200, 950), page(1200, 950))
	if got[0].PrefixHitRate.OK {
		t.Error("the rate since the start of the engine is not asked for")
	}
	check(t, "50 of 200", got[1].PrefixHitRate, 0.25)
	if got[2].PrefixHitRate.OK {
		t.Error("without queries there is no hit rate")
	}
}

func TestRatesUseTheTimeThatWentBy(t *testing.T) {
	got := series(t, 10*time.Second, "vllm:generation_tokens_total 1000\nvllm:prompt_tokens_total 0", "vllm:generation_tokens_total 6000\nvllm:prompt_tokens_total 20")
	check(t, "generation", got[1].GenerationTokensPerS, 500)
	check(t, "prompt", got[1].PromptTokensPerS, 2)
}

func TestTwoReadingsAtOnceGiveNoRate(t *testing.T) {
	got := series(t, 0, "vllm:generation_tokens_total 1", "vllm:generation_tokens_total 2")
	if got[1].GenerationTokensPerS.OK {
		t.Errorf("rate = %v, want unknown", got[1].GenerationTokensPerS)
	}
}

// Token totals of some engines move when a request ends. A rate of them would be
// nothing for minutes and then a jump.
func TestCountersThatMoveOnFinishGiveNoRate(t *testing.T) {
	page := func(tokens, running int) string {
		return fmt.Sprintf("tgi_request_generated_tokens_sum %d\ntgi_batch_current_size %d\n", tokens, running)
	}
	got := series(t, time.Second, page(0, 4), page(0, 4), page(4000, 0))
	for i, s := range got {
		if s.GenerationTokensPerS.OK || !s.CountersOnFinish {
			t.Errorf("%d: %v tokens/s", i, s.GenerationTokensPerS)
		}
	}
	check(t, "tokens", got[2].GenerationTokens, 4000)
}

// SGLang's live counters go before its gauge, and the gauge before its totals.
func TestLiveCountersOfSGLang(t *testing.T) {
	live := func(decode, computed, cached int) string {
		return fmt.Sprintf("sglang:gen_throughput 7\nsglang:generation_tokens_total 0\nsglang:realtime_tokens_total{mode=\"decode\"} %d\n"+
			"sglang:realtime_tokens_total{mode=\"prefill_compute\"} %d\nsglang:realtime_tokens_total{mode=\"prefill_cache\"} %d\n", decode, computed, cached)
	}
	got := series(t, 2*time.Second, live(100, 10, 0), live(300, 50, 20))
	check(t, "the gauge, before anything has moved", got[0].GenerationTokensPerS, 7)
	check(t, "200 in 2 s", got[1].GenerationTokensPerS, 100)
	for s, want := range map[*snapshot]string{&got[0]: "sglang:gen_throughput", &got[1]: "increase of sglang:realtime_tokens_total{mode=decode}"} {
		if from := s.Origins[engine.FieldOutputGauge].Source; from != want {
			t.Errorf("the rate comes from %q, want %q", from, want)
		}
	}
	check(t, "40 computed and 20 found in 2 s", got[1].PromptTokensPerS, 30)
	check(t, "20 of 60", got[1].PrefixHitRate, 20.0/60)
	old := series(t, time.Second, "sglang:gen_throughput 7\nsglang:generation_tokens_total 0\n", "sglang:gen_throughput 8\nsglang:generation_tokens_total 900\n")
	check(t, "the gauge", old[1].GenerationTokensPerS, 8)
}

// A metric that appears with the first request takes over from another: neither a
// restart nor an increase.
func TestMetricThatTakesOver(t *testing.T) {
	got := series(t, time.Second, "sglang:realtime_tokens_total{mode=\"prefill_cache\"} 500\nsglang:realtime_tokens_total{mode=\"prefill_compute\"} 500\n",
		"sglang:prefill_effective_tokens_total{mode=\"input\"} 10\nsglang:realtime_tokens_total{mode=\"prefill_cache\"} 600\nsglang:realtime_tokens_total{mode=\"prefill_compute\"} 700\n")
	if got[1].Restarted || got[1].PrefixHitRate.OK {
		t.Errorf("restarted %v, hit rate %v", got[1].Restarted, got[1].PrefixHitRate)
	}
}

func TestCreationTimeTellsARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := running(func(*http.Request) (int, string) {
			if time.Since(begin) > 500*time.Millisecond {
				return 200, "# TYPE vllm:prompt_tokens counter\nvllm:prompt_tokens_total 900\nvllm:prompt_tokens_created 2e9\n"
			}
			return 200, "# TYPE vllm:prompt_tokens counter\nvllm:prompt_tokens_total 5\nvllm:prompt_tokens_created 1e9\n"
		}, vllmIdentity)
		defer stop()
		time.Sleep(1500 * time.Millisecond)
		if got := source.Latest().Reading; !got.Restarted || got.PromptTokensPerS.OK || got.PromptTokens.V != 900 {
			t.Errorf("%+v", got)
		}
	})
}

// llama.cpp tells its start in a header.
func TestStartHeaderTellsARestart(t *testing.T) {
	starts := []string{"1700000000", "1700000000", "1700000099"}
	var got []bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Process-Start-Time-Unix", starts[min(len(got), 2)])
		fmt.Fprintf(w, "llamacpp:tokens_predicted_total %d\n", 100*(len(got)+1))
	}))
	defer server.Close()
	source := NewSource(Config{Base: server.URL}, engine.Identity{Kind: "llama.cpp", MetricsURL: server.URL + "/metrics"})
	for range starts {
		source.scrape(t.Context())
		got = append(got, source.Latest().Reading.Restarted)
	}
	if !slices.Equal(got, []bool{false, false, true}) {
		t.Errorf("restarted %v, want only the third", got)
	}
}
