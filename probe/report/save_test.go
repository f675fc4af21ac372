package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/probe/bench"
)

// A file that cannot be written ends the saving with one sentence, which also names what was
// saved before it; so does a folder that is none.
func TestSavingFailsInOneSentence(t *testing.T) {
	dir := t.TempDir()
	_, err := create(filepath.Join(dir, "sonde-a"), []part{{".json", "{}"}, {".no/svg", ""}, {".md", ""}})
	if want := "svg cannot be written: no such file or directory; saved: .json"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 || files[0].Name() != "sonde-a.json" {
		t.Errorf("%v", files)
	}
	_, err = Save(filepath.Join(dir, "sonde-a.json"), keeping(bench.Plan{}).Keeper, time.Time{}, "", "")
	if err == nil || !strings.HasSuffix(err.Error(), ".json cannot be written: not a directory") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestOutputFormats(t *testing.T) {
	for format, want := range map[string]string{"": `"schema": "sonde/summary/1"`, "json": `"schema"`, "table": "latency ms", "csv": "latency_ms.ttft.p50", "md": "| "} {
		path := filepath.Join(t.TempDir(), "out")
		if err := Write(nasty(), path, format, "auto", os.Stdout); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(raw), want) || strings.Contains(string(raw), "\x1b") {
			t.Errorf("format %q lacks %q or holds escape codes (%v)", format, want, err)
		}
	}
}
