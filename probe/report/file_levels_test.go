package report

import (
	"encoding/json"
	"testing"
	"time"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// What a file holds of a level is the same after it has been written and read.
func TestLevelsOfAFile(t *testing.T) {
	shape, err := length.Parse("1024±25%")
	if err != nil {
		t.Fatal(err)
	}
	l := level.Level{
		Load:    frame.Load{Concurrency: 8, InputTokens: 1024, InputShape: shape.Shape, OutputTokens: 64, Prefix: "unique", Turns: 3, Think: 2 * time.Second},
		Settled: true, Visits: 2, Counts: measure.Counts{Sent: 12, OK: 11, Failed: 1},
		Rates:  level.Rates{OutTokensPerS: opt.Of(250), RequestsPerS: opt.Of(3.5)},
		Engine: level.Engine{KV: opt.Of(0.25)},
	}
	l.TTFT = measure.Summary{N: 11, Mean: 101, Min: 90, P50: 100, P90: 110, P95: 120, P99: 130, P999: 135, Max: 140}
	sweep := NewSweep(&bench.SweepOutcome{Levels: []bench.Outcome{{Level: l}}})
	raw, err := json.Marshal(&sweep)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	levels := f.AllLevels()
	if len(levels) != 1 {
		t.Fatalf("%d levels", len(levels))
	}
	got := levels[0]
	if !level.Comparable(got.Load, l.Load) || got.Amount() != 8 {
		t.Errorf("load %+v, want %+v", got.Load, l.Load)
	}
	if got.TTFT != l.TTFT || got.OutTokensPerS != l.OutTokensPerS || got.RequestsPerS != l.RequestsPerS || got.Engine.KV != l.Engine.KV || got.InTokensPerS.OK {
		t.Errorf("%+v", got)
	}
	if got.OK != 11 || got.Failed != 1 || !got.Settled || got.Visits != 2 || got.TPOT.N != 0 || got.SM.OK {
		t.Errorf("%+v", got)
	}
}

// A percentile that a file does not have is unknown, not 0.
func TestAFileWithoutAPercentile(t *testing.T) {
	f, err := ReadFile([]byte(`{"schema": "` + Schema + `", "latency_ms": {"ttft": {"n": 40, "p50": 100, "p95": null}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s := f.AllLevels()[0].TTFT
	if got := s.Value(s.P50); got != opt.Of(100) {
		t.Errorf("p50 %v", got)
	}
	for name, f := range map[string]float64{"p95": s.P95, "p99": s.P99, "max": s.Max} {
		if got := s.Value(f); got.OK {
			t.Errorf("%s is %v, want unknown", name, got)
		}
	}
}
