package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
)

// levelFrame is a Frame at a load setting in which n requests ended.
func levelFrame(seq uint64, level, concurrency, n int) *frame.Frame {
	at := time.Duration(seq) * 250 * time.Millisecond
	f := &frame.Frame{Seq: seq, At: at, Slice: 250 * time.Millisecond, Target: frame.Target{Host: "gpu:8000/../x"}}
	f.Load.Level, f.Load.Requested = level, frame.Load{Concurrency: concurrency, InputTokens: 32, OutputTokens: 2}
	f.Client.InFlight, f.Client.SliceOutTokens = concurrency, 2*n
	for range n {
		f.Requests = append(f.Requests, measure.Request{
			Intent: at - 200*time.Millisecond, Start: at - 200*time.Millisecond, First: at - 100*time.Millisecond, Last: at - 50*time.Millisecond, End: at - 50*time.Millisecond,
			Streamed: true, Chunks: 2, OutTokens: 2, FirstTokens: 1, Source: measure.Usage, GapsMS: []float32{50},
		})
	}
	return f
}

// kept is a Keeper with a Book of its own.
type kept struct {
	*bench.Keeper
	book *level.Book
}

func keeping(plan bench.Plan) kept {
	book := level.NewBook(plan.SLOs)
	return kept{bench.NewKeeper(plan, book, book.Add), book}
}

func (k kept) Summary() Summary {
	o := k.Outcome()
	return New(&o)
}

func (k kept) Report() SweepSummary {
	o := k.Sweep()
	return NewSweep(&o)
}

func TestKeeperHoldsThePresentLoad(t *testing.T) {
	k := keeping(bench.Plan{Requests: 1, Duration: time.Second})
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
	k := keeping(bench.Plan{})
	k.Add(levelFrame(1, 1, 1, 1))
	dir, now := t.TempDir(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var paths []string
	for range 3 {
		path, err := Save(dir, k.Keeper, now, "<svg/>", "cast")
		if err != nil {
			t.Fatal(err)
		}
		stem, _, _ := strings.Cut(path, ".json .svg .cast; ")
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

// With a settled level the report, its JSON and its curve lie beside, under one name; a name
// of which any file is there already is not used.
func TestSaveWritesTheReport(t *testing.T) {
	s := newStage(ttft100)
	s.adjust = told
	s.climb()
	dir, now := t.TempDir(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const stem = "sonde-h-8000-20260102-030405"
	if err := os.WriteFile(filepath.Join(dir, stem+"-curve.svg"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := Save(dir, s.k.Keeper, now, "<svg>screen</svg>", "the cast")
	if err != nil || filepath.Base(said) != stem+"-2.json .svg .cast .md -levels.json -curve.svg" {
		t.Fatalf("%q, %v", said, err)
	}
	read := func(ending string) string {
		raw, err := os.ReadFile(filepath.Join(dir, stem+"-2"+ending))
		if err != nil {
			t.Error(err)
		}
		return string(raw)
	}
	for ending, want := range map[string]string{
		".json": `"concurrency": 8,`, ".svg": "<svg>screen</svg>", ".cast": "the cast", ".md": "](" + stem + "-2-curve.svg)",
		"-levels.json": `"best_within_slo": {`, "-curve.svg": "TTFT p95, ms",
	} {
		if got := read(ending); !strings.Contains(got, want) {
			t.Errorf("%s lacks %s: %.200s", ending, want, got)
		}
	}
	if raw, _ := os.ReadFile(filepath.Join(dir, stem+"-curve.svg")); string(raw) != "mine" {
		t.Errorf("overwritten: %s", raw)
	}
	if files, _ := os.ReadDir(dir); len(files) != 7 {
		t.Errorf("%d files", len(files))
	}
}

func TestBrief(t *testing.T) {
	k := keeping(bench.Plan{})
	if text := Brief(k.Keeper); !strings.Contains(text, "no request ended") {
		t.Errorf("%q", text)
	}
	for seq := uint64(1); seq <= 8; seq++ {
		k.Add(levelFrame(seq, 1, 4, 1))
	}
	k.Add(levelFrame(9, 2, 8, 2))
	k.Add(levelFrame(10, 3, 16, 0))
	lines := strings.Split(Brief(k.Keeper), "\n")
	for i, want := range []string{"sonde", "load", "4? × 32/2       2.00     8       0       100     100      50.0    50.0    8.00", "8? × 32/2"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
	if len(lines) != 5 {
		t.Errorf("%d lines: the load at which nothing ended has none", len(lines))
	}
}

// A stop of our own process in the middle of the window: neither its length nor
// the tokens that arrived in it are in a rate.
func TestStopsAreCutOut(t *testing.T) {
	a := newRun(bench.Plan{})
	frames := []*frame.Frame{levelFrame(1, 1, 1, 0), levelFrame(2, 1, 1, 1), levelFrame(3, 1, 1, 1)}
	stopped := levelFrame(44, 1, 1, 0) // ten seconds later
	stopped.Stopped, stopped.Slice = true, 41*250*time.Millisecond
	frames = append(frames, stopped, levelFrame(45, 1, 1, 1))
	for _, f := range frames {
		a.Add(f)
	}
	s := a.Summary()
	if got := float64(s.DurationS.V); got < 0.99 || got > 1.01 {
		t.Errorf("the window lasted %v s, want the four slices of 0.25 s in which we ran", got)
	}
	if got := s.Rates.OutputPerS.V; got < 5.9 || got > 6.1 {
		t.Errorf("%v tokens/s, want 3 requests of 2 tokens in 1 s", got)
	}
}
