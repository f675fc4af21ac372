package scrape

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
)

// server is a page of an engine that generates 10 tokens and ends one request a second.
func server(second, tokens, requests, started int) string {
	page := fmt.Sprintf("vllm:num_requests_running 3\nvllm:generation_tokens_total %d\nvllm:prompt_tokens_total %d\n"+
		"vllm:request_queue_time_seconds_bucket{le=\"+Inf\"} %d\nvllm:request_queue_time_seconds_count %d\nvllm:request_queue_time_seconds_sum %d\n",
		tokens+10*second, 2*tokens+20*second, requests+second, requests+second, requests+second)
	if started > 0 {
		page += fmt.Sprintf("process_start_time_seconds %d\n", started)
	}
	return page
}

func TestEnginesInTurnAndRestarts(t *testing.T) {
	tests := []struct {
		name     string
		page     func(second int) string
		several  bool
		restarts int // that are left in the readings; -1: any number
	}{
		{"one engine", func(i int) string { return server(i, 1000, 10, 7) }, false, 0},
		{"two in turn, by start time", func(i int) string { return server(i, 1000+500*(i%2), 10, 7+i%2) }, true, -1},
		{"two in turn, by counters", func(i int) string { return server(i, []int{1000, 50000}[i%2], []int{10, 900}[i%2], 0) }, true, -1},
		{"two in turn, each ahead in some counters", func(i int) string { return server(i, []int{1000, 50000}[i%2], []int{900, 10}[i%2], 0) }, true, -1},
		{"three in turn", func(i int) string { return server(i, 1000+30000*(i%3), 10+400*(i%3), 0) }, true, -1},
		{"a restart, by counters", func(i int) string {
			return server(max(i-5, 0), []int{5000, 0}[min(i/5, 1)], []int{50, 0}[min(i/5, 1)], 0)
		}, false, 1},
		{"a restart, by start time", func(i int) string { return server(i, 1000, 10, 7+i/10) }, false, 1},
		{"two restarts", func(i int) string { return server(i%8, 0, 0, 0) }, false, 2},
		{"a restart that passes what was", func(i int) string { return server(i-8*min(i/8, 1), 0, 0, 0) }, false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l lineage
			several, restarts := false, 0
			for i := range 20 {
				s := take(t, tt.page(i), "")
				several = l.add(&s)
				if s.Restarted {
					restarts++
				}
			}
			if several != tt.several || tt.restarts >= 0 && restarts != tt.restarts {
				t.Errorf("several %v, %d restarts; want %v, %d", several, restarts, tt.several, tt.restarts)
			}
		})
	}
}

// Behind a load balancer there are no figures, and the reason names the way out. When one
// engine alone answers for long enough, its figures are back.
func TestSeveralEnginesHaveNoFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := running(func(*http.Request) (int, string) {
			i := int(time.Since(begin) / time.Second)
			if i > 10 {
				return 200, server(i, 1000, 10, 7)
			}
			return 200, server(i, 1000+500*(i%2), 10, 7+i%2)
		}, vllmIdentity)
		defer stop()
		time.Sleep(8500 * time.Millisecond)
		got := source.Latest()
		if got.Have || got.State != engine.Several || !strings.Contains(got.Why, "take turns") || !strings.Contains(got.Why, "--prometheus") {
			t.Errorf("have %v, %v: %s", got.Have, got.State, got.Why)
		}
		time.Sleep(60 * time.Second)
		got = source.Latest()
		if !got.Have || got.State != engine.Ready || got.Reading.Restarted {
			t.Errorf("alone: have %v, %v: %s", got.Have, got.State, got.Why)
		}
		check(t, "tokens per s", got.Reading.GenerationTokensPerS, 10)
	})
}

// A llama.cpp that is gone is gone, though its settings were read less than a minute ago; with
// a proxy before it too.
func TestAnEngineThatIsGone(t *testing.T) {
	for _, proxy := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			source, stop := running(func(r *http.Request) (int, string) {
				dead := time.Since(begin) > 3500*time.Millisecond
				switch {
				case dead && proxy:
					return 502, "bad gateway"
				case dead:
					return 0, ""
				case r.URL.Path == "/props":
					return 200, `{"total_slots":4,"default_generation_settings":{"n_ctx":4096}}`
				case r.URL.Path == "/slots":
					return 200, `[{"n_ctx":4096,"is_processing":false}]`
				}
				return 200, "llamacpp:requests_processing 1\nllamacpp:tokens_predicted_total 50\n"
			}, engine.Identity{Kind: "llama.cpp", MetricsURL: "http://engine:8000/metrics"})
			defer stop()
			time.Sleep(2500 * time.Millisecond)
			if got := source.Latest(); got.State != engine.Ready {
				t.Fatalf("%v: %s", got.State, got.Why)
			}
			time.Sleep(3 * time.Second)
			if got := source.Latest(); got.State != engine.Failed || got.Reading.Restarted || got.Why == "" {
				t.Errorf("proxy %v: %v, restarted %v: %s", proxy, got.State, got.Reading.Restarted, got.Why)
			}
		})
	}
}

// Every gauge and counter is looked at anew at each scrape: what was no number, or not there,
// counts as soon as it is.
func TestAValueMayComeLater(t *testing.T) {
	got := series(t, time.Second,
		"vllm:num_requests_running NaN\nvllm:kv_cache_usage_perc +Inf\nvllm:generation_tokens_total NaN\n",
		"vllm:num_requests_running 3\nvllm:kv_cache_usage_perc NaN\nvllm:gpu_cache_usage_perc 0.4\nvllm:generation_tokens_total 100\n",
		"vllm:num_requests_running 3\nvllm:kv_cache_usage_perc 0.5\nvllm:generation_tokens_total 110\n",
		"vllm:generation_tokens_total 120\n", "vllm:num_requests_running 2\nvllm:generation_tokens_total 130\n")
	if got[0].Running.OK || got[0].KVFill.OK || got[0].GenerationTokens.OK || got[3].Running.OK {
		t.Errorf("known: %v %v %v, then %v", got[0].Running, got[0].KVFill, got[0].GenerationTokens, got[3].Running)
	}
	check(t, "running", got[1].Running, 3)
	check(t, "fill, by the older name", got[1].KVFill, 0.4)
	check(t, "fill, by the newer name", got[2].KVFill, 0.5)
	check(t, "tokens per s", got[2].GenerationTokensPerS, 10)
	check(t, "running again", got[4].Running, 2)
	for i, s := range got {
		if s.Restarted || s.Regrouped {
			t.Errorf("%d: restarted %v, regrouped %v", i, s.Restarted, s.Regrouped)
		}
	}
}

// Collectors add and drop the ending of counters.
func TestCountersWithAndWithoutTotal(t *testing.T) {
	check(t, "without", take(t, "vllm:generation_tokens 5\nvllm:num_requests_running 1\n", "").GenerationTokens, 5)
	check(t, "with", take(t, "tgi_request_success_total 7\n", "").RequestsOK, 7)
	check(t, "both", take(t, "vllm:generation_tokens 5\nvllm:generation_tokens_total 6\n", "").GenerationTokens, 6)
}

// A page that was given and is refused says why in the server's own words, and is not asked
// for again in the advice.
func TestAGivenPageThatIsRefused(t *testing.T) {
	tests := []struct {
		status     int
		body, want string
	}{
		{400, `{"error":{"message":"no model in the request"}}`, "400 at http://pages/metrics: no model in the request; check the address given with --metrics"},
		{404, `{"detail":"Not Found"}`, "404 at http://pages/metrics: Not Found; check the address given with --metrics"},
		{403, `{"detail":"for admins"}`, "http://pages/metrics wants a key (403): give --api-key, or an address that needs none with --metrics; it says: for admins"},
		{200, "<html><title>Sign in</title></html>", "http://pages/metrics: HTML, not a metrics page (Sign in); check the address given with --metrics"},
		{200, `{"status":"ok"}`, `http://pages/metrics: JSON, not a metrics page ({"status":"ok"}); check the address given with --metrics`},
		{200, "", "http://pages/metrics: empty page; check the address given with --metrics"},
	}
	for _, tt := range tests {
		f := newFetcher(Config{Base: "http://engine", MetricsURL: "http://pages/metrics", Client: &http.Client{Transport: script(func(*http.Request) (int, string) { return tt.status, tt.body })}})
		g := f.lookFor(t.Context(), newParser(), "http://pages/metrics", "m")
		if got := f.why(g, &kinds.Kind{}); got != tt.want {
			t.Errorf("%d %s:\n%s, want\n%s", tt.status, tt.body, got, tt.want)
		}
	}
}

// llama.cpp's router wants the model's name, also at an address that was given.
func TestAGivenPagePerModel(t *testing.T) {
	c := Config{Base: "http://engine", MetricsURL: "http://engine/metrics", Client: &http.Client{Transport: script(func(r *http.Request) (int, string) {
		if r.URL.Query().Get("model") != "m/x" {
			return 400, `{"error":{"message":"model name is missing from the request"}}`
		}
		return 200, "llamacpp:requests_processing 2\n"
	})}}
	source := NewSource(c, engine.Identity{Kind: "llama.cpp", Model: "m/x", MetricsURL: c.MetricsURL})
	source.scrape(t.Context())
	if got := source.Latest(); !got.Have || got.Reading.Running.V != 2 || got.Identity.MetricsURL != "http://engine/metrics?model=m%2Fx" {
		t.Errorf("have %v, running %v, at %s: %s", got.Have, got.Reading.Running, got.Identity.MetricsURL, got.Why)
	}
}
