package report

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sonde/probe/bench"
)

// A disk that is full keeps what was whole and nothing torn, and the sentence names both; so
// does a folder that is none.
func TestSavingFailsInOneSentence(t *testing.T) {
	dir := t.TempDir()
	full := func(string) writer {
		return func(io.Writer) error { return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC} }
	}
	_, err := saveParts(filepath.Join(dir, "sonde-a"), []part{{".json", func(string) writer { return text("{}") }}, {".svg", full}, {".md", full}})
	if want := "sonde-a.svg cannot be written: no space left on device; saved: .json"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 || files[0].Name() != "sonde-a.json" {
		t.Errorf("%v", files)
	}
	_, err = Save(filepath.Join(dir, "sonde-a.json"), keeping(bench.Plan{}).Keeper, time.Time{}, "")
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
