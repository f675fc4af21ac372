package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/record"
)

// recordedRun writes 20 s of 8 streams after 2 s without load.
func recordedRun(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "before.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := record.NewWriter(file, record.Header{URL: "http://h/v1"})
	for i := range 88 {
		w.Add(frameOf(uint64(i+1), i >= 8))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func frameOf(seq uint64, load bool) *frame.Frame {
	f := &frame.Frame{Seq: seq, At: time.Duration(seq) * 250 * time.Millisecond, Slice: 250 * time.Millisecond}
	f.Engine.Identity.Model = "llama"
	if load {
		f.Load = frame.LoadState{Level: 1, Settled: true, Requested: frame.Load{Concurrency: 8, InputTokens: 256, OutputTokens: 64, Prefix: "unique"}}
		f.Client.SliceOutTokens = 100
		f.Requests = []measure.Request{{ID: seq, Start: f.At - time.Second, End: f.At, Level: 1}}
	}
	return f
}

func TestAgainstARecording(t *testing.T) {
	path := recordedRun(t)
	synctest.Test(t, func(t *testing.T) {
		a, err := OpenAgainst(t.Context(), path, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		run, err := a.Run()
		if err != nil || run == nil || run.Name != "before" || !run.Timed() || run.At(frame.Load{Concurrency: 8}) == nil {
			t.Fatalf("%+v, %v", run, err)
		}
		here := frameOf(9, true)
		if got := a.Differs(here); got != nil {
			t.Errorf("the same work differs: %q", got)
		}
		here.Load.Requested.InputTokens, here.Engine.Identity.Model = 512, "qwen"
		got := strings.Join(a.Differs(here), "\n")
		if got != "model: llama there, qwen here\nrequested prompt: 256 tokens there, 512 tokens here" {
			t.Errorf("%q", got)
		}
	})
}

// Whatever is wrong with the file is said in one line, before there is a screen.
func TestAgainstUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]string{
		"no results at all":                          "not a JSON file from sonde bench or sonde sweep",
		`{"type":"header","schema":"sonde/other/9"}`: "has the format",
		`{"schema":"sonde/else/1"}`:                  "not a file from sonde bench",
	} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenAgainst(t.Context(), path, time.Second)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--against ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := OpenAgainst(t.Context(), filepath.Join(dir, "nowhere"), time.Second); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

func TestWhenTheLoadOfARecordingBegan(t *testing.T) {
	r := &Recording{path: recordedRun(t)}
	if got := r.LoadBegan(t.Context()); got != 2*time.Second {
		t.Errorf("%v, want 2 s", got)
	}
}
