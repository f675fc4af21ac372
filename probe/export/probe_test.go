package export

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/canary"
	"sonde/probe/measure"
)

// stub is a Prober whose probes take a while.
type stub struct {
	model string
	takes time.Duration
	class measure.Class
}

func (s stub) Probe(ctx context.Context) (string, measure.Request) {
	r := *answered()
	if s.class != "" {
		r = measure.Request{Class: s.class, Error: "no"}
	}
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		r = measure.Request{Class: measure.Cancelled}
	}
	return s.model, r
}

func (stub) Close() {}

func target(name, model string, p canary.Prober) canary.Target {
	return canary.Target{Name: name, Endpoint: "http://" + name, Model: model, Prober: p, Every: 10 * time.Second, Timeout: 30 * time.Second, Input: 16, Output: 16}
}

func onDemand(targets ...canary.Target) *Prober {
	return &Prober{Canary: canary.New(canary.Options{Targets: targets}), Targets: targets}
}

// get asks for a page in virtual time and returns its status and its series.
func get(p *Prober, path string, header ...string) (int, []string) {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.handler().ServeHTTP(w, r)
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	return w.Code, slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") })
}

func TestProbeOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := onDemand(target("a:1", "", stub{model: "m", takes: 2 * time.Second}), target("b:1", "x", stub{model: "x", class: measure.HTTP5xx}))
		code, got := get(p, "/probe?target=a:1")
		if code != http.StatusOK {
			t.Fatalf("%d %v", code, got)
		}
		wantLines(t, got,
			"probe_duration_seconds 2", "probe_success 1",
			"sonde_probe_connection_setup_seconds 0.003", "sonde_probe_e2e_seconds 0.26",
			"sonde_probe_generation_tokens 4", "sonde_probe_generation_tokens_per_second 50",
			`sonde_probe_info{model="m"} 1`, "sonde_probe_prompt_tokens 18",
			"sonde_probe_tpot_seconds 0.02", "sonde_probe_ttft_seconds 0.2")
		_, got = get(p, "/probe?target=http://b:1/&model=x")
		wantLines(t, got, "probe_duration_seconds 0", "probe_success 0", `sonde_probe_failure_info{class="http_5xx"} 1`, `sonde_probe_info{model="x"} 1`)
	})
}

// A scraper that waits for 3 s gets its answer after 2.5.
func TestProbeKeepsToTheScrapersTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := onDemand(target("a:1", "m", stub{model: "m", takes: time.Minute}))
		_, got := get(p, "/probe?target=a:1", "X-Prometheus-Scrape-Timeout-Seconds", "3")
		wantLines(t, got, "probe_duration_seconds 2.5", "probe_success 0", `sonde_probe_failure_info{class="timeout"} 1`, `sonde_probe_info{model="m"} 1`)
	})
	for header, want := range map[string]time.Duration{"": 30 * time.Second, "abc": 30 * time.Second, "-1": 30 * time.Second, "60": 30 * time.Second, "0.2": 100 * time.Millisecond, "10": 9500 * time.Millisecond} {
		if got := within(30*time.Second, http.Header{"X-Prometheus-Scrape-Timeout-Seconds": {header}}); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

func TestProbeRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		small := target("b:1", "m", stub{model: "m"})
		small.Budget = 40
		p := onDemand(target("a:1", "m", stub{model: "m"}), small)
		get(p, "/probe?target=b:1")
		for path, want := range map[string]string{
			"/probe":                         "400 name a target: /probe?target=URL",
			"/probe?target=c:1":              "404 that is none of the targets: start sonde canary with it, or with --probe-any",
			"/probe?target=a:1&model=other":  "404 that is none of the targets: start sonde canary with it, or with --probe-any",
			"/probe?target=a:1@169.254.0.1/": "404 that is none of the targets: start sonde canary with it, or with --probe-any",
			"/probe?target=b:1":              "429 the budget of 40 tokens an hour is spent: the next probe is possible in 60 min",
		} {
			code, got := get(p, path)
			if have := fmt.Sprintf("%d %s", code, got[0]); have != want {
				t.Errorf("%s: %s, want %s", path, have, want)
			}
		}
	})
}

// With Any a target is made for the moment.
func TestProbeOfAnyAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := onDemand(target("a:1", "m", stub{model: "m"}))
		p.Any = func(address, model string) (canary.Target, error) {
			if address == "bad" {
				return canary.Target{}, errors.New("target must be an address")
			}
			return target(address, model, stub{model: model}), nil
		}
		if code, got := get(p, "/probe?target=z:1&model=q"); code != http.StatusOK || !slices.Contains(got, `sonde_probe_info{model="q"} 1`) {
			t.Errorf("%d %v", code, got)
		}
		if code, got := get(p, "/probe?target=bad"); code != http.StatusBadRequest || got[0] != "target must be an address" {
			t.Errorf("%d %v", code, got)
		}
	})
}

func TestProbesAtOnceAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var targets []canary.Target
		for i := range mostProbes + 1 {
			targets = append(targets, target(string(rune('a'+i)), "m", stub{model: "m", takes: time.Second}))
		}
		handler := onDemand(targets...).handler()
		codes := make(chan int, len(targets))
		for i := range targets {
			go func() {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/probe?target="+targets[i].Name, nil))
				codes <- w.Code
			}()
		}
		refused := 0
		for range targets {
			if <-codes == http.StatusServiceUnavailable {
				refused++
			}
		}
		if refused != 1 {
			t.Errorf("%d of %d refused", refused, len(targets))
		}
	})
}

func TestIndexLinksToTheTargets(t *testing.T) {
	page := index([]Page{onDemand(target("a:1/?x=<&>", "m", stub{})).Page()})
	if !strings.Contains(page, `<a href="/probe?model=m&amp;target=a%3A1%2F%3Fx%3D%3C%26%3E">`) {
		t.Error(page)
	}
}
