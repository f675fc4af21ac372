package serve

import (
	"io"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"sonde/probe/sim/core"
	"sonde/probe/sim/faults"
)

func TestSharesOfFaults(t *testing.T) {
	f := faults.Faults{RateLimited: 0.1, Unavailable: 0.2, StreamError: 0.05, Cut: 0.15}
	const n = 20000
	var limited, unavailable, errors, cut float64
	for i := range uint64(n) {
		switch fate := drawFate(f, i, 1); {
		case fate.refusal != nil && fate.refusal.status == 429:
			limited++
		case fate.refusal != nil && fate.refusal.status == 503:
			unavailable++
		case fate.cut:
			cut++
		case fate.breakAt > 0:
			errors++
		}
	}
	for _, c := range [][2]float64{{limited, 0.1}, {unavailable, 0.2}, {errors, 0.05}, {cut, 0.15}} {
		if math.Abs(c[0]/n-c[1]) > 0.01 { // four standard deviations
			t.Errorf("share %g, want %g", c[0]/n, c[1])
		}
	}
	if healthy := drawFate(faults.Faults{}, 1, 1); !reflect.DeepEqual(healthy, fate{}) {
		t.Errorf("a healthy server does %+v", healthy)
	}
}

func withFaults(f faults.Faults) core.Options {
	o := fast
	o.Faults = f
	return o
}

var someTokens = map[string]any{"messages": user("Hi"), "stream": true, "max_tokens": 40, "ignore_eos": true}

func TestRefusalFaults(t *testing.T) {
	for status, f := range map[int]faults.Faults{429: {RateLimited: 1}, 503: {Unavailable: 1}} {
		r := post(t, serve(t, withFaults(f))+"/v1/chat/completions", someTokens)
		if r.StatusCode != status || (r.Header.Get("Retry-After") == "1") != (status == 429) {
			t.Errorf("status %d, headers %v; want %d", r.StatusCode, r.Header, status)
		}
	}
}

func TestBrokenStreams(t *testing.T) {
	r := post(t, serve(t, withFaults(faults.Faults{StreamError: 1}))+"/v1/chat/completions", someTokens)
	b, err := io.ReadAll(r.Body)
	if text := string(b); err != nil || !strings.Contains(text, `data: {"error":{`) || !strings.HasSuffix(text, "data: [DONE]\n\n") || strings.Contains(text, `"finish_reason":"`) {
		t.Errorf("error inside a stream: %v, %s", err, b)
	}
	r = post(t, serve(t, withFaults(faults.Faults{Cut: 1}))+"/v1/chat/completions", someTokens)
	if b, err = io.ReadAll(r.Body); err == nil || !strings.Contains(string(b), `"content":"`) || strings.Contains(string(b), "[DONE]") {
		t.Errorf("cut connection: %v, %s", err, b)
	}
}

func TestClumps(t *testing.T) {
	var clump atomic.Int64
	clump.Store(8)
	m := newMailbox(&clump)
	for i := range 7 {
		m.put([]uint16{uint16(i)}, core.Unfinished)
	}
	select {
	case <-m.wake:
		t.Error("the reader was woken before the clump was full")
	default:
	}
	m.put([]uint16{7}, core.Unfinished)
	<-m.wake
	if words, _ := m.take(nil); len(words) != 8 {
		t.Errorf("a clump of %d", len(words))
	}
	m.put([]uint16{8}, core.FinishLength) // the end does not wait
	<-m.wake
	base := serve(t, withFaults(faults.Faults{Clump: 8}))
	if s := readStream(t, post(t, base+"/v1/chat/completions", someTokens).Body); s.tokens != 40 || !s.done {
		t.Errorf("%d tokens, done %v", s.tokens, s.done)
	}
}
