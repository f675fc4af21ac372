package headless

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/probe"
	"sonde/probe/measure"
)

// levelFrame is a Frame at a load setting in which n requests ended.
func levelFrame(seq uint64, level, concurrency, n int) *probe.Frame {
	at := time.Duration(seq) * 250 * time.Millisecond
	f := &probe.Frame{Seq: seq, At: at, Slice: 250 * time.Millisecond, Target: probe.Target{Host: "gpu:8000/../x"}}
	f.Load.Level, f.Load.Asked.Concurrency = level, concurrency
	for range n {
		f.Requests = append(f.Requests, measure.Request{
			Intent: at - 200*time.Millisecond, Start: at - 200*time.Millisecond, First: at - 100*time.Millisecond, Last: at - 50*time.Millisecond, End: at - 50*time.Millisecond,
			Streamed: true, Chunks: 2, OutTokens: 2, FirstTokens: 1, Source: measure.Usage, GapsMS: []float32{50},
		})
	}
	return f
}

func TestKeeperHoldsThePresentLoad(t *testing.T) {
	k := NewKeeper(Plan{Requests: 1, Duration: time.Second})
	for seq := uint64(1); seq <= 40; seq++ { // ten seconds: no limit of the plan applies
		k.Add(levelFrame(seq, 1, 4, 1))
	}
	if s := k.Summary(); s.Requests.OK != 40 || s.Load.Concurrency != 4 {
		t.Errorf("ok %d at concurrency %d, want 40 at 4", s.Requests.OK, s.Load.Concurrency)
	}
	k.Add(levelFrame(41, 2, 8, 0))
	if s := k.Summary(); s.Requests.OK != 40 {
		t.Errorf("before anything ended at the new load: ok %d, want the 40 of the old one", s.Requests.OK)
	}
	k.Add(levelFrame(42, 2, 8, 3))
	if s := k.Summary(); s.Requests.OK != 3 || s.Load.Concurrency != 8 {
		t.Errorf("ok %d at concurrency %d, want 3 at 8", s.Requests.OK, s.Load.Concurrency)
	}
}

func TestSaveNeverOverwrites(t *testing.T) {
	k := NewKeeper(Plan{})
	k.Add(levelFrame(1, 1, 1, 1))
	dir, now := t.TempDir(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var paths []string
	for range 3 {
		path, err := k.Save(dir, now, "<svg/>")
		if err != nil {
			t.Fatal(err)
		}
		stem := strings.TrimSuffix(path, ".json, .svg")
		paths = append(paths, filepath.Base(stem))
		raw, err := os.ReadFile(stem + ".json")
		if err != nil || !json.Valid(raw) {
			t.Errorf("%s: %v, valid JSON: %v", stem, err, json.Valid(raw))
		}
		if svg, err := os.ReadFile(stem + ".svg"); err != nil || string(svg) != "<svg/>" {
			t.Errorf("%s: picture %q, %v", stem, svg, err)
		}
	}
	want := "sonde-gpu-8000----x-20260102-030405 sonde-gpu-8000----x-20260102-030405-2 sonde-gpu-8000----x-20260102-030405-3"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("files %s, want %s", got, want)
	}
}

func TestBrief(t *testing.T) {
	k := NewKeeper(Plan{})
	var b strings.Builder
	if err := k.Summary().WriteBrief(&b); err != nil || !strings.Contains(b.String(), "no request was sent") {
		t.Errorf("%q, %v", b.String(), err)
	}
	for seq := uint64(1); seq <= 8; seq++ {
		k.Add(levelFrame(seq, 1, 4, 1))
	}
	b.Reset()
	if err := k.Summary().WriteBrief(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"concurrency 4", "ok 8, failed 0", "TTFT p50 100 p95 100 ms", "TPOT p50 50.0", "gap p99 50.0 ms"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q lacks %q", b.String(), want)
		}
	}
}

func TestOutputFormats(t *testing.T) {
	k := NewKeeper(Plan{})
	k.Add(levelFrame(1, 1, 4, 2))
	for format, want := range map[string]string{"": `"schema": "sonde/summary/1"`, "json": `"schema"`, "table": "latency ms", "csv": "latency_ms.ttft.p50", "md": "| "} {
		path := filepath.Join(t.TempDir(), "out")
		if err := Write(k.Summary(), path, format, os.Stdout); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(raw), want) || strings.Contains(string(raw), "\x1b") {
			t.Errorf("format %q lacks %q or holds escape codes (%v)", format, want, err)
		}
	}
}
