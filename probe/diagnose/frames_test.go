package diagnose

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

const tick = 250 * time.Millisecond

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// dist makes a distribution by its median and p99 (ms).
func dist(n int, p50, p99 float64) measure.Summary {
	return measure.Summary{N: n, Mean: p50, Min: p50 / 2, P50: p50, P90: p50, P95: p50 * 1.2, P99: p99, P999: p99, Max: p99}
}

// ok makes a success of 256 tokens, as asked, with a TTFT of 200 ms.
func ok(end time.Duration) measure.Request {
	start := end - 2750*time.Millisecond
	return measure.Request{
		Level: 1, Intent: start, Start: start, First: start + 200*time.Millisecond, Last: end, End: end, Streamed: true, Chunks: 256,
		FirstTokens: 1, RequestedIn: 1024, RequestedOut: 256, InTokens: 1031, OutTokens: 256, Source: measure.Usage, Finish: "length",
	}
}

// short makes an answer of 64 tokens, as asked.
func short(r *measure.Request) *measure.Request {
	r.RequestedOut, r.OutTokens, r.Chunks = 64, 64, 64
	return r
}

// timed gives a success another TTFT and TPOT (ms), with the same end.
func timed(r *measure.Request, ttft, tpot float64) {
	first := milliseconds(float64(r.OutTokens-1) * tpot)
	r.First = r.Last - first
	r.Start = r.First - milliseconds(ttft)
	r.Intent = r.Start
}

func fail(class measure.Class, message string) measure.Request {
	return measure.Request{Class: class, Error: message, Streamed: true}
}

// scene is 30 s of a server in good health under a steady load of 16 streams,
// four requests per second; change may spoil any Frame.
func scene(change func(f *frame.Frame)) *Judge {
	j := New()
	for at := tick; at <= 30*time.Second; at += tick {
		f := healthy(at)
		if change != nil {
			change(f)
		}
		j.Add(f)
	}
	return j
}

func healthy(at time.Duration) *frame.Frame {
	seconds := at.Seconds()
	f := &frame.Frame{Seq: uint64(at / tick), At: at, Slice: tick}
	f.Target = frame.Target{Started: epoch, Host: "gpu-box:8000"}
	f.Load = frame.LoadState{Requested: frame.Load{Concurrency: 16, InputTokens: 1024, OutputTokens: 256, Prefix: "unique"}, Level: 1}
	f.Requests = []measure.Request{ok(at)}
	f.Client = measure.Client{
		InFlight: 16, Prefill: 1, Window: 30 * time.Second, RequestsPerS: 4, InTokensPerS: 4124, OutTokensPerS: 1024,
		TTFT: dist(120, 200, 300), TPOT: dist(120, 10, 14), Gap: dist(9999, 10, 14), E2E: dist(120, 2750, 3200),
		TokensPerChunk: opt.Of(1), SliceOutTokens: 256, SliceTTFT: []float64{200}, OldestWaiting: 100 * time.Millisecond, Counts: measure.Counts{Sent: 1000, OK: 984},
	}
	f.Streams = []measure.StreamCell{{State: measure.StreamWaiting, WaitMS: 100}}
	for slot := 1; slot < 16; slot++ {
		f.Streams = append(f.Streams, measure.StreamCell{Slot: slot, State: measure.StreamDecode, MaxGapMS: 10, Tokens: 25})
	}
	f.Health = frame.Health{Stamps: "kernel", LateMsP99: 0.1, CPU: opt.Of(0.1)}
	f.Engine = engine.Status{Have: true, Reading: engine.Reading{
		At: epoch.Add(at.Truncate(time.Second)), Running: opt.Of(16), Waiting: opt.Of(0), KVFill: opt.Of(0.4), KVFillMax: opt.Of(0.5),
		Preemptions: opt.Of(7), PrefixQueries: opt.Of(4000 * seconds), PrefixHits: opt.Of(0), TTFT: histogram(4*seconds, 0.15),
	}}
	f.GPU = gpu.Status{At: epoch.Add(at), Source: "dcgm http://gpu-box:9400/metrics", Period: time.Second, GPUs: []gpu.Reading{
		{ID: "GPU-a", SM: opt.Of(0.9), DRAM: opt.Of(0.5), Tensor: opt.Of(0.2)},
	}}
	return f
}

// histogram has n observations of that many seconds each.
func histogram(n, seconds float64) engine.Histogram {
	return engine.Histogram{Bounds: []float64{1, math.Inf(1)}, Counts: []float64{n, n}, Count: n, Sum: n * seconds}
}

// rules lists which rules hold.
func rules(j *Judge) []Rule {
	var out []Rule
	for _, v := range j.Verdicts() {
		out = append(out, v.Rule)
	}
	return out
}

// only checks that the rule holds and no other but harmless ones, and that it is
// said in these words.
func only(t *testing.T, j *Judge, rule Rule, severity Severity, says string) {
	t.Helper()
	v := j.Strongest()
	if v.Rule != rule || v.Severity != severity || v.Text != says {
		t.Errorf("strongest is %s (%v): %q, want %s (%v): %q", v.Rule, v.Severity, v.Text, rule, severity, says)
	}
	for _, other := range j.Verdicts()[1:] {
		if other.Severity > Healthy {
			t.Errorf("%s holds, too: %s", other.Rule, other.Text)
		}
	}
	if v.Severity > Healthy && (len(v.Evidence) == 0 || slices.Contains(v.Evidence, "")) {
		t.Errorf("%s has no evidence: %q", rule, v.Evidence)
	}
}

// healthyWith checks that the server is in good health, and that a rule holds beside it
// in these words.
func healthyWith(t *testing.T, j *Judge, rule Rule, says string) {
	t.Helper()
	if v := j.Strongest(); v.Rule != "healthy" {
		t.Errorf("strongest is %s: %s", v.Rule, v.Text)
	}
	for _, v := range j.Verdicts()[1:] {
		if v.Rule == rule {
			if v.Text != says || v.Severity != Info || len(v.Evidence) == 0 {
				t.Errorf("%s (%v): %q, want %q", rule, v.Severity, v.Text, says)
			}
			return
		}
	}
	t.Errorf("%s does not hold: %v", rule, rules(j))
}

// none checks that a rule does not hold.
func none(t *testing.T, what string, j *Judge, rule Rule) {
	t.Helper()
	if slices.Contains(rules(j), rule) {
		t.Errorf("%s: %s holds: %v", what, rule, fmt.Sprint(j.Verdicts()))
	}
}
