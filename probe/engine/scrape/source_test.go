package scrape

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/engine"
	"sonde/probe/guard"
)

// script is a server without a network, for use under virtual time.
type script func(req *http.Request) (status int, body string)

// RoundTrip answers by the script and honours cancelling as a network would.
func (s script) RoundTrip(req *http.Request) (*http.Response, error) {
	type reply struct {
		status int
		body   string
	}
	done := make(chan reply, 1)
	guard.Go("script", func(err error) { panic(err) }, func() {
		status, body := s(req)
		done <- reply{status, body}
	})
	select {
	case <-req.Context().Done():
		return nil, req.Context().Err()
	case r := <-done:
		return &http.Response{
			StatusCode: r.status, Header: http.Header{}, Request: req,
			ContentLength: int64(len(r.body)), Body: io.NopCloser(strings.NewReader(r.body)),
		}, nil
	}
}

var vllmIdentity = engine.Identity{Kind: "vllm", Name: "vLLM", Model: "m", MetricsURL: "http://engine:8000/metrics"}

// running starts a source on a script; the returned function ends it.
func running(s script, id engine.Identity) (*Source, func()) {
	source := NewSource(Config{Base: "http://engine:8000", Client: &http.Client{Transport: s}}, id)
	ctx, cancel := context.WithCancel(context.Background())
	guard.Go("source", func(err error) { panic(err) }, func() { source.Run(ctx) })
	return source, cancel
}

func tokens(n int) string { return fmt.Sprintf("vllm:generation_tokens_total %d\n", n) }

func TestSourcePolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := running(func(*http.Request) (int, string) {
			return 200, tokens(int(500 * time.Since(begin).Seconds()))
		}, vllmIdentity)
		defer stop()
		if got := source.Latest(); got.Have || got.Why == "" {
			t.Errorf("before the first scrape: %+v; want no reading and a reason", got)
		}
		time.Sleep(3500 * time.Millisecond)
		got := source.Latest()
		if !got.Have || got.Why != "" {
			t.Fatalf("status = %+v, want a reading", got)
		}
		check(t, "tokens", got.Reading.GenerationTokens, 1500)
		check(t, "rate", got.Reading.GenerationTokensPerS, 500)
		if age := time.Since(got.Reading.At); age != 500*time.Millisecond {
			t.Errorf("age = %v, want 500 ms", age)
		}
	})
}

// The page stalls for 10 s while 5000 tokens are made, after an even 500 a second.
func TestStalledPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var inFlight, most, calls atomic.Int32
		source, stop := running(func(req *http.Request) (int, string) {
			calls.Add(1)
			most.Store(max(most.Load(), inFlight.Add(1)))
			defer inFlight.Add(-1)
			if at := time.Since(begin); at > 2500*time.Millisecond && at < 12500*time.Millisecond {
				select { // stall
				case <-time.After(10 * time.Second):
				case <-req.Context().Done():
				}
			}
			return 200, tokens(int(500 * time.Since(begin).Seconds()))
		}, vllmIdentity)
		defer stop()

		time.Sleep(8 * time.Second)
		got := source.Latest()
		if !got.Have || got.Reading.At.Sub(begin) != 2*time.Second {
			t.Errorf("the last good reading must stay, with its time: %+v", got)
		}
		if want := "no answer from http://engine:8000/metrics within 2s"; got.Why != want {
			t.Errorf("why = %q, want %q", got.Why, want)
		}
		check(t, "rate before the stall", got.Reading.GenerationTokensPerS, 500)

		// Scrapes start at 3, 6 (2 s out, 1 s wait), 10 (2 + 2) and 16 s (2 + 4).
		time.Sleep(8500 * time.Millisecond)
		got = source.Latest()
		if got.Why != "" || got.Reading.At.Sub(begin) != 16*time.Second {
			t.Fatalf("after the stall: %+v; want the reading of 16 s", got)
		}
		check(t, "rate over the stall", got.Reading.GenerationTokensPerS, 500)
		if most.Load() != 1 {
			t.Errorf("%d scrapes at once, want 1", most.Load())
		}
		if calls.Load() != 7 {
			t.Errorf("%d scrapes, want 7: at 0, 1, 2, 3, 6, 10 and 16 s", calls.Load())
		}
	})
}

func TestBackOffIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		_, stop := running(func(*http.Request) (int, string) { calls.Add(1); return 404, "" }, vllmIdentity)
		defer stop()
		// At 0, 1, 3, 7, 15, 31, 61, 91, 121, … s.
		time.Sleep(121*time.Second + time.Millisecond)
		if calls.Load() != 9 {
			t.Errorf("%d scrapes of a failing page in 121 s, want 9", calls.Load())
		}
	})
}

func TestWhyThereIsNoReading(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		kind   string
		want   string
	}{
		{"an empty list", 200, "[]", "", "http://engine:8000/metrics: JSON, not a metrics page; give --metrics URL"},
		{"HTML", 200, "<html>", "", "http://engine:8000/metrics: HTML, not a metrics page; give --metrics URL"},
		{"nothing", 200, "", "", "http://engine:8000/metrics: empty page; give --metrics URL"},
		{"a process only", 200, "python_gc_objects_collected_total 1\nprocess_start_time_seconds 1\n", "",
			"no engine metrics on this page: give the engine's own address with --metrics"},
		{"statistics off", 200, "process_start_time_seconds 1\n", "vllm",
			"no engine metrics on this page: start vLLM without --disable-log-stats, or give the engine's own address with --metrics"},
		{"a gateway before its first request", 200, "litellm_deployment_state{api_base=\"x\"} 0\n", "litellm",
			"LiteLLM's own metrics are not read: no request has gone through LiteLLM yet"},
		{"Triton with a back end of its own", 200, "nv_inference_count{model=\"a\"} 1\n", "",
			"Triton's own metrics are not read: Triton's page shows no known engine"},
		{"SGLang's gateway", 200, "smg_requests_total 1\n", "",
			"SGLang model gateway's own metrics are not read: give /engine_metrics of the gateway, or a worker's own address, with --metrics"},
		{"not there", 404, "", "", "404 at http://engine:8000/metrics: give --metrics URL"},
		{"SGLang without its flag", 404, "", "sglang", "404 at http://engine:8000/metrics: start SGLang with --enable-metrics"},
		{"a key", 401, "", "", "http://engine:8000/metrics wants a key (401): give --api-key, or an address that needs none with --metrics"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				id := vllmIdentity
				id.Kind = tt.kind
				source, stop := running(func(*http.Request) (int, string) { return tt.status, tt.body }, id)
				defer stop()
				synctest.Wait()
				if got := source.Latest(); got.Have || got.Why != tt.want {
					t.Errorf("why = %q, want %q", got.Why, tt.want)
				}
			})
		})
	}
}

func TestAReadingIsKeptWhenThePageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := running(func(*http.Request) (int, string) {
			if time.Since(begin) > 500*time.Millisecond {
				return 502, "bad gateway"
			}
			return 200, tokens(7)
		}, vllmIdentity)
		defer stop()
		time.Sleep(1500 * time.Millisecond)
		got := source.Latest()
		check(t, "tokens", got.Reading.GenerationTokens, 7)
		if want := "502 at http://engine:8000/metrics: give --metrics URL"; !got.Have || got.Why != want {
			t.Errorf("have %v, why %q; want the old reading and %q", got.Have, got.Why, want)
		}
	})
}

func TestPagesAreBounded(t *testing.T) {
	big := "vllm:num_requests_running 3\n" + strings.Repeat("other_metric{label=\"value\"} 123456789\n", 20<<20/38)
	for name, tt := range map[string]struct{ body, want string }{
		"20 MiB":     {big, ""},
		"over limit": {big + big, "response from http://engine:8000/metrics refused: too large: 40 MiB, at most 32"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source, stop := running(func(*http.Request) (int, string) { return 200, tt.body }, vllmIdentity)
				defer stop()
				synctest.Wait()
				got := source.Latest()
				if got.Why != tt.want || got.Have != (tt.want == "") {
					t.Errorf("have %v, why %q; want %q", got.Have, got.Why, tt.want)
				}
			})
		})
	}
}

func TestSetModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := running(func(*http.Request) (int, string) {
			n := int(time.Since(begin).Seconds())
			return 200, fmt.Sprintf("vllm:generation_tokens_total{model_name=\"m\"} %d\nvllm:generation_tokens_total{model_name=\"n\"} %d\n", 10*n, 1000+20*n)
		}, vllmIdentity)
		defer stop()
		time.Sleep(1500 * time.Millisecond)
		check(t, "rate of m", source.Latest().Reading.GenerationTokensPerS, 10)
		if got := source.Latest().OnPage; !slices.Equal(got, []string{"m", "n"}) {
			t.Errorf("models on the page: %q", got)
		}
		source.SetModel("n")
		synctest.Wait()
		got := source.Latest()
		check(t, "tokens of n", got.Reading.GenerationTokens, 1020)
		if got.Reading.GenerationTokensPerS.OK || got.Reading.Restarted || got.Reading.Model != "n" || got.Identity.Model != "m" {
			t.Errorf("just after the change: %+v; want no rate, no restart, the page's model n, requests' model m", got)
		}
		time.Sleep(1500 * time.Millisecond)
		check(t, "rate of n", source.Latest().Reading.GenerationTokensPerS, 20)
	})
}

// The models to choose from are listed even if the requested one is not among them.
func TestModelThatIsNotOnThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := vllmIdentity
		id.Model = "alias"
		source, stop := running(func(*http.Request) (int, string) {
			return 200, "vllm:num_requests_running{model_name=\"m\"} 1\nvllm:num_requests_running{model_name=\"n\"} 2\n"
		}, id)
		defer stop()
		synctest.Wait()
		got := source.Latest()
		if want := "the metrics cover several models (m, n): choose one with --model"; got.Have || got.Why != want || !slices.Equal(got.OnPage, []string{"m", "n"}) {
			t.Errorf("%+v", got)
		}
		source.SetModel("n")
		time.Sleep(1500 * time.Millisecond)
		check(t, "running", source.Latest().Reading.Running, 2)
	})
}

func TestManyModelsAreNotAllNamed(t *testing.T) {
	err := &otherModelsError{strings.Split("a b c d e f g h i j", " ")}
	if want := "the metrics cover several models (a, b, c, d, e, f, g, h and 2 more): choose one with --model"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

// Where each model has a page of its own, the choice is another page.
func TestAPageForEachModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := engine.Identity{Kind: "llama.cpp", Model: "a", MetricsURL: "http://engine:8000/metrics?model=a"}
		source, stop := running(func(r *http.Request) (int, string) {
			return 200, map[string]string{"a": "llamacpp:requests_processing 1\n", "b/c:1": "llamacpp:requests_processing 2\n"}[r.URL.Query().Get("model")]
		}, id)
		defer stop()
		synctest.Wait()
		check(t, "of a", source.Latest().Reading.Running, 1)
		source.SetModel("b/c:1")
		time.Sleep(1500 * time.Millisecond)
		check(t, "of the other", source.Latest().Reading.Running, 2)
	})
}

func TestSourceWithoutAPage(t *testing.T) {
	source := NewSource(Config{}, engine.Identity{Kind: "mlc-llm", MetricsWhy: "MLC-LLM has no queue to tell"})
	source.Run(context.Background()) // returns: there is nothing to do
	if got := source.Latest(); got.Have || got.Why != "MLC-LLM has no queue to tell" {
		t.Errorf("status = %+v", got)
	}
}

func TestAPanicIsAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := NewSource(Config{Client: &http.Client{Transport: broken{}}}, vllmIdentity)
		if source.guarded(t.Context(), source.scrape) {
			t.Error("a scrape that panics is no success")
		}
		if got := source.Latest(); got.Have || !strings.Contains(got.Why, "internal error") {
			t.Errorf("status = %+v, want the reason", got)
		}
	})
}

type broken struct{}

func (broken) RoundTrip(*http.Request) (*http.Response, error) { panic("broken") }

// An engine that is restarted with its metrics switched on is read from then on.
func TestPageThatAppearsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var on atomic.Bool
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			status, body := http.StatusNotFound, "404"
			if on.Load() && r.URL.Path == "/metrics" {
				status, body = http.StatusOK, "vllm:num_requests_running{model_name=\"m\"} 3\n"
			}
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})}
		ctx, cancel := context.WithCancel(context.Background())
		s := NewSource(Config{Base: "http://h:1", Client: client}, engine.Identity{Kind: "vllm", Model: "m", MetricsWhy: "404"})
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		time.Sleep(40 * time.Second)
		if s.Latest().Have {
			t.Error("a reading of nothing")
		}
		on.Store(true)
		time.Sleep(30 * time.Second)
		if got := s.Latest(); !got.Have || got.Reading.Running.V != 3 || got.Identity.MetricsURL != "http://h:1/metrics" {
			t.Errorf("%+v", got)
		}
		cancel()
		<-done
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
