package scrape

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/engine"
	"sonde/probe/guard"
	"sonde/probe/prom"
)

// scrapedBy is a Prometheus server's answer: series at its present, and for each of
// the instances a scrape that long ago. A series is "name{label=\"…\",…} value".
func scrapedBy(ago map[string]time.Duration, series ...string) string {
	now := float64(time.Now().UnixMilli()) / 1000
	var out []string
	for _, line := range series {
		name, rest, _ := strings.Cut(line, "{")
		labels, value, _ := strings.Cut(rest, "} ")
		metric := fmt.Sprintf(`"__name__":%q,"job":"vllm"`, name)
		for label := range strings.SplitSeq(labels, ",") {
			key, text, _ := strings.Cut(label, "=")
			metric += fmt.Sprintf(",%q:%s", key, text)
		}
		out = append(out, fmt.Sprintf(`{"metric":{%s},"value":[%.3f,%q]}`, metric, now, value))
	}
	for instance, age := range ago {
		out = append(out, fmt.Sprintf(`{"metric":{"job":"vllm","instance":%q,"sonde_scraped":"yes"},"value":[%.3f,"%.3f"]}`,
			instance, now, now-age.Seconds()))
	}
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(out, ",") + `]}}`
}

// reading starts a source on a scripted Prometheus; the function ends it.
func reading(t *testing.T, s script, id engine.Identity) (*PrometheusSource, func()) {
	t.Helper()
	server, err := prom.NewServer("http://u:s3cret@prom:9090", &http.Client{Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	source := NewPrometheusSource(server, "", id)
	ctx, cancel := context.WithCancel(context.Background())
	guard.Go("source", func(err error) { panic(err) }, func() { source.Run(ctx) })
	return source, cancel
}

// twoReplicas are the series of two servers. The buckets are those of two ranks:
// merged 80, 120, 200, 200.
func twoReplicas() []string {
	var out []string
	for i, v := range []struct {
		running, waiting, kv, tokens float64
		buckets                      [4]int
	}{{3, 0, 0.2, 1000, [4]int{80, 100, 100, 100}}, {5, 2, 0.6, 400, [4]int{0, 20, 100, 100}}} {
		of := fmt.Sprintf(`engine="0",model_name="m",instance="h:%d"`, i+1)
		out = append(out,
			fmt.Sprintf("vllm:num_requests_running{%s} %g", of, v.running), fmt.Sprintf("vllm:num_requests_waiting{%s} %g", of, v.waiting),
			fmt.Sprintf("vllm:kv_cache_usage_perc{%s} %g", of, v.kv), fmt.Sprintf("vllm:generation_tokens_total{%s} %g", of, v.tokens),
			fmt.Sprintf("vllm:time_to_first_token_seconds_count{%s} 100", of), fmt.Sprintf("vllm:time_to_first_token_seconds_sum{%s} 25", of))
		for b, le := range []string{"0.1", "0.5", "1.0", "+Inf"} {
			out = append(out, fmt.Sprintf("vllm:time_to_first_token_seconds_bucket{%s,le=%q} %d", of, le, v.buckets[b]))
		}
	}
	return out
}

func TestReplicasAreMergedFromPrometheus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ago := map[string]time.Duration{"h:1": 2 * time.Second, "h:2": 4 * time.Second}
		source, stop := reading(t, func(*http.Request) (int, string) { return 200, scrapedBy(ago, twoReplicas()...) }, engine.Identity{Model: "m"})
		defer stop()
		synctest.Wait()
		got := source.Latest()
		if !got.Have || got.Why != "" || got.Identity.MetricsURL != "http://prom:9090" || got.Identity.Kind != "vllm" {
			t.Fatalf("status = %+v", got)
		}
		r := got.Reading
		check(t, "running", r.Running, 8)
		check(t, "waiting", r.Waiting, 2)
		check(t, "KV mean", r.KVFill, 0.4)
		check(t, "KV max", r.KVFillMax, 0.6)
		check(t, "tokens", r.GenerationTokens, 1400)
		// The 100th of 200 lies in (0.1, 0.5], which holds the 81st to the 120th: 0.1 + 0.4·20/40.
		if p50, _, ok := r.TTFT.Quantile(0.5); !ok || !near(p50, 0.3) || r.TTFT.Count != 200 || r.TTFT.Sum != 50 {
			t.Errorf("TTFT p50 %v of %+v", p50, r.TTFT)
		}
		if age := time.Since(r.At); age != 3*time.Second {
			t.Errorf("age %v, want 3 s, the mean of 2 and 4", age)
		}
	})
}

// Scraped every 5 s, 500 tokens each second: the queries in between change nothing.
func TestRatesFromPrometheusAreThoseOfTheScrapes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := reading(t, func(*http.Request) (int, string) {
			since := time.Since(begin)
			scraped := since.Truncate(5 * time.Second)
			return 200, scrapedBy(map[string]time.Duration{"h:1": since - scraped},
				fmt.Sprintf(`vllm:generation_tokens_total{model_name="m",instance="h:1"} %g`, 500*scraped.Seconds()))
		}, vllmIdentity)
		defer stop()
		for range 30 {
			time.Sleep(500 * time.Millisecond)
			r := source.Latest().Reading
			if rate := r.GenerationTokensPerS; time.Since(begin) > 7*time.Second && !near(rate.Or(-1), 500) || rate.OK && !near(rate.V, 500) {
				t.Errorf("rate after %v: %+v, want 500", time.Since(begin), rate)
			}
		}
		if notes := source.Latest().Reading.Notes; !slices.Contains(notes, "Prometheus scrapes every 5 s") {
			t.Errorf("notes %q", notes)
		}
	})
}

// What a replica counted before it joined is no increase, and one that leaves is no
// negative one.
func TestReplicasThatJoinAndLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := reading(t, func(*http.Request) (int, string) {
			n := int(time.Since(begin).Seconds())
			series := []string{fmt.Sprintf(`vllm:generation_tokens_total{instance="h:1"} %d`, 100*n)}
			ago := map[string]time.Duration{"h:1": 0}
			if n == 2 || n == 3 {
				series = append(series, fmt.Sprintf(`vllm:generation_tokens_total{instance="h:2"} %d`, 1_000_000+100*n))
				ago["h:2"] = 0
			}
			return 200, scrapedBy(ago, series...)
		}, vllmIdentity)
		defer stop()
		for second, want := range []struct {
			rate      float64 // -1: unknown
			regrouped bool
			note      string
		}{
			{-1, false, ""}, {100, false, ""}, {-1, true, "h:2 has joined: counters start over"}, {200, false, ""},
			{-1, true, "h:2 has left: counters start over"}, {100, false, ""},
		} {
			time.Sleep(time.Until(begin.Add(time.Duration(second)*time.Second + 500*time.Millisecond)))
			r := source.Latest().Reading
			if !near(r.GenerationTokensPerS.Or(-1), want.rate) || r.Restarted || r.Regrouped != want.regrouped || strings.Join(r.Notes, "") != want.note {
				t.Errorf("at %d s: rate %+v, regrouped %t, notes %q; want %+v", second, r.GenerationTokensPerS, r.Regrouped, r.Notes, want)
			}
		}
	})
}

func TestWhyPrometheusGivesNoReading(t *testing.T) {
	fresh := map[string]time.Duration{"h:1": 0}
	for name, c := range map[string]struct {
		status     int
		body, want string
		model      string
	}{
		"nothing":     {200, scrapedBy(nil), "Prometheus at http://prom:9090 has no series vllm:…: does it scrape them?", "m"},
		"credentials": {401, "", "Prometheus at http://prom:9090 wants other credentials (401): give them as --prometheus http://USER:PASSWORD@HOST", "m"},
		"others": {200, scrapedBy(fresh, `vllm:lora_requests_info{instance="h:1"} 1`),
			"the series from Prometheus include none of vLLM's queue, KV cache and latencies: check --selector", "m"},
		"models": {200, scrapedBy(fresh, `vllm:num_requests_running{instance="h:1",model_name="a"} 1`, `vllm:num_requests_running{instance="h:1",model_name="b"} 1`),
			"the metrics cover several models (a, b): choose one with --model", "m"},
		"old": {200, scrapedBy(map[string]time.Duration{"h:1": 250 * time.Second}, `vllm:num_requests_running{instance="h:1"} 1`),
			"Prometheus at http://prom:9090 has had no newer sample of vllm:… for 4m10s: does it still scrape them?", "m"},
		"one model under any name": {200, scrapedBy(fresh, `vllm:num_requests_running{instance="h:1",model_name="a"} 1`), "", "m"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				source, stop := reading(t, func(*http.Request) (int, string) {
					// The bodies were made before virtual time began; what counts are differences.
					return c.status, c.body
				}, engine.Identity{Kind: "vllm", Model: c.model})
				defer stop()
				time.Sleep(2500 * time.Millisecond)
				got := source.Latest()
				if got.Why != c.want || (name == "old" || c.want == "") != got.Have {
					t.Errorf("have %t, why %q\nwant %q", got.Have, got.Why, c.want)
				}
				if name == "old" && begin.Sub(got.Reading.At) != 250*time.Second {
					t.Errorf("age at the first answer %v, want 250 s", begin.Sub(got.Reading.At))
				}
				if c.want == "" && !slices.Contains(got.Reading.Notes, "the series are for model a") {
					t.Errorf("notes %q", got.Reading.Notes)
				}
			})
		})
	}
}

// The engine is found by its series where nothing else tells, and its table reads
// them: ranks of each replica, none twice.
func TestOtherEnginesFromPrometheus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked string
		source, stop := reading(t, func(r *http.Request) (int, string) {
			asked = r.URL.Query().Get("query")
			if r.Body != nil {
				if err := r.ParseForm(); err == nil && asked == "" {
					asked = r.Form.Get("query")
				}
			}
			return 200, scrapedBy(map[string]time.Duration{"h:1": 0, "h:2": 0},
				`sglang:num_running_reqs{instance="h:1",server="a",dp_rank="0",tp_rank="0",model_name="m"} 3`,
				`sglang:num_running_reqs{instance="h:1",server="a",dp_rank="0",tp_rank="1",model_name="m"} 3`,
				`sglang:num_running_reqs{instance="h:2",server="a",dp_rank="0",tp_rank="0",model_name="m"} 4`,
				`sglang:token_usage{instance="h:1",server="a",dp_rank="0",tp_rank="0",model_name="m"} 0.25`,
				`sglang:token_usage{instance="h:2",server="a",dp_rank="0",tp_rank="0",model_name="m"} 0.75`)
		}, engine.Identity{Model: "m"})
		defer stop()
		synctest.Wait()
		got := source.Latest()
		if !got.Have || got.Identity.Kind != "sglang" || !slices.Equal(got.OnPage, []string{"m"}) {
			t.Fatalf("%+v", got)
		}
		check(t, "running", got.Reading.Running, 7)
		check(t, "fill", got.Reading.KVFill, 0.5)
		check(t, "fullest", got.Reading.KVFillMax, 0.75)
		for _, part := range []string{`vllm:.*|ray_vllm_.*`, `sglang:.*`, "timestamp(sglang:num_running_reqs{})", "timestamp(trtllm_num_requests_running{})"} {
			if !strings.Contains(asked, part) {
				t.Errorf("%q does not ask for %s", asked, part)
			}
		}
	})
	for id, want := range map[string]string{"sonde-sim": "vllm", "vllm": "vllm", "tgi": "tgi"} {
		if of := fleetKinds(engine.Identity{Kind: id}); len(of) != 1 || of[0].ID != want {
			t.Errorf("%s: %d kinds", id, len(of))
		}
	}
	if n := len(fleetKinds(engine.Identity{Kind: "litellm"})); n < 5 {
		t.Errorf("%d kinds behind a gateway", n)
	}
}

// After a failure the same samples as before make the reading whole again.
func TestPrometheusComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := reading(t, func(*http.Request) (int, string) {
			if since := time.Since(begin); since > 500*time.Millisecond && since < 1500*time.Millisecond {
				return 503, `{"status":"error","errorType":"unavailable","error":"starting"}`
			}
			return 200, scrapedBy(map[string]time.Duration{"h:1": time.Since(begin)}, `vllm:num_requests_running{instance="h:1"} 3`)
		}, vllmIdentity)
		defer stop()
		time.Sleep(1200 * time.Millisecond)
		if got := source.Latest(); !got.Have || got.Why != "Prometheus at http://prom:9090 cannot answer (503, unavailable): starting" {
			t.Errorf("while it fails: %+v", got)
		}
		time.Sleep(2 * time.Second)
		if got := source.Latest(); !got.Have || got.Why != "" || !got.Reading.At.Equal(begin) {
			t.Errorf("afterwards: %+v", got)
		}
	})
}

// A replica that cannot be scraped has no series any more: it is named until it is back,
// or another one has taken its place.
func TestAReplicaThatIsGoneIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		there := []string{"1,2,3", "1,3", "1,3", "1,2,3", "1,2", "1,2,4", "1,2"}
		source, stop := reading(t, func(*http.Request) (int, string) {
			ago, series := map[string]time.Duration{}, []string{}
			for n := range strings.SplitSeq(there[min(int(time.Since(begin).Seconds()), len(there)-1)], ",") {
				ago["h:"+n] = 0
				series = append(series, fmt.Sprintf(`vllm:num_requests_running{instance="h:%s"} 1`, n))
			}
			return 200, scrapedBy(ago, series...)
		}, vllmIdentity)
		defer stop()
		for second, want := range []string{"", "h:2", "h:2", "", "h:3", "", "h:4"} {
			time.Sleep(time.Until(begin.Add(time.Duration(second)*time.Second + 500*time.Millisecond)))
			var names []string
			for _, g := range source.Latest().Reading.Gone {
				names = append(names, g.Name)
			}
			if got := strings.Join(names, ","); got != want {
				t.Errorf("at %d s: %q gone, want %q", second, got, want)
			}
			if want == "h:2" {
				r := source.Latest().Reading
				if since := r.Gone[0].Since.Sub(begin); since != 0 || !strings.HasPrefix(r.GoneText(), "1 of 3 replicas gone since ") {
					t.Errorf("since %v: %q", since, r.GoneText())
				}
			}
		}
	})
}

// VictoriaMetrics answers with what was half a minute ago: that is as new as it gets.
func TestOldSamplesAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, stop := reading(t, func(*http.Request) (int, string) {
			return 200, scrapedBy(map[string]time.Duration{"h:1": 32 * time.Second}, `vllm:num_requests_running{instance="h:1"} 3`)
		}, vllmIdentity)
		defer stop()
		synctest.Wait()
		got := source.Latest()
		check(t, "running", got.Reading.Running, 3)
		if got.Period < 32*time.Second || got.Why != "" {
			t.Errorf("period %v, why %q", got.Period, got.Why)
		}
	})
}

// A counter that is lower after a failed query than before it began anew meanwhile.
func TestACounterThatFellWhilePrometheusFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := reading(t, func(*http.Request) (int, string) {
			since, tokens := time.Since(begin), 1000.0
			switch {
			case since > 500*time.Millisecond && since < 1500*time.Millisecond:
				return 503, ""
			case since > time.Second:
				tokens = 100 * since.Seconds()
			}
			return 200, scrapedBy(map[string]time.Duration{"h:1": 0}, fmt.Sprintf(`vllm:generation_tokens_total{instance="h:1"} %g`, tokens))
		}, vllmIdentity)
		defer stop()
		time.Sleep(2500 * time.Millisecond)
		if r := source.Latest().Reading; !r.Restarted || r.GenerationTokensPerS.OK {
			t.Errorf("restarted %t, %+v tokens/s", r.Restarted, r.GenerationTokensPerS)
		}
		time.Sleep(time.Second)
		if r := source.Latest().Reading; r.Restarted || !near(r.GenerationTokensPerS.Or(-1), 100) {
			t.Errorf("afterwards: restarted %t, %+v tokens/s", r.Restarted, r.GenerationTokensPerS)
		}
	})
}

// A server that reports up distinguishes an outage from a replica that was removed, and
// names one that was down before the first query. Targets of the same job that are not of
// the query stay out.
func TestUpTellsAnOutageFromARemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		// Of each second: the replicas with series, and those whose up is 0.
		there := []struct{ alive, down, gone string }{
			{"1,2", "3", "3"}, // down at the start
			{"1,2,3", "", ""}, // back
			{"1,3", "2", "2"}, // an outage
			{"1,3", "", ""},   // removed while it was down
			{"1", "9", ""},    // 3 was removed; 9 is another server of the job
		}
		source, stop := reading(t, func(r *http.Request) (int, string) {
			now := there[min(int(time.Since(begin).Seconds()), len(there)-1)]
			first := !strings.Contains(r.URL.Query().Get("query"), `up{job=~"vllm"} == 0`)
			if first != (time.Since(begin) == 0) {
				t.Errorf("after %v: %s", time.Since(begin), r.URL.Query().Get("query"))
			}
			ago, series := map[string]time.Duration{}, []string{}
			for n := range strings.SplitSeq(now.alive, ",") {
				ago["h:"+n] = 0
				series = append(series, fmt.Sprintf(`vllm:num_requests_running{instance="h:%s"} 1`, n))
			}
			if now.down != "" {
				series = append(series, fmt.Sprintf(`up{instance="h:%s",sonde_up="yes"} 0`, now.down))
			}
			if first {
				series = append(series, `up{instance="h:1",sonde_up="yes"} 1`, `up{instance="h:2",sonde_up="yes"} 1`)
			}
			return 200, scrapedBy(ago, series...)
		}, vllmIdentity)
		defer stop()
		for second, want := range there {
			time.Sleep(time.Until(begin.Add(time.Duration(second)*time.Second + 500*time.Millisecond)))
			r := source.Latest().Reading
			var names []string
			for _, g := range r.Gone {
				names = append(names, strings.TrimPrefix(g.Name, "h:"))
			}
			if got := strings.Join(names, ","); got != want.gone {
				t.Errorf("at %d s: %q gone, want %q", second, got, want.gone)
			}
			if text := "1 of 3 replicas gone since before the start: h:3"; second == 0 && r.GoneText() != text {
				t.Errorf("%q, want %q", r.GoneText(), text)
			}
		}
	})
}
