package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/probe/opt"
)

// written gives what Write put on standard output.
func written(t *testing.T, path, format, color string) (string, error) {
	t.Helper()
	stdout, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	writeErr := Write(nasty(), path, format, color, stdout)
	raw, err := os.ReadFile(stdout.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), writeErr
}

func TestAFileThatCannotBeWrittenLosesNothing(t *testing.T) {
	for _, path := range []string{"/dev/full", filepath.Join(t.TempDir(), "no", "such", "folder")} {
		if _, err := os.Stat("/dev/full"); err != nil && path == "/dev/full" {
			continue // not on every system
		}
		out, err := written(t, path, "csv", "auto")
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "standard output as JSON") {
			t.Errorf("%s: error %v", path, err)
		}
		if !json.Valid([]byte(out)) || !strings.Contains(out, Schema) {
			t.Errorf("%s: standard output holds %q", path, out)
		}
	}
	path := filepath.Join(t.TempDir(), "out.csv")
	if out, err := written(t, path, "csv", "auto"); err != nil || out != "" {
		t.Errorf("a good file: %q, %v", out, err)
	}
}

func TestCheckOut(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		"": "", there: "", filepath.Join(dir, "new"): "", os.DevNull: "",
		dir: "is a directory", filepath.Join(dir, "no", "new"): "no such file",
	} {
		err := CheckOut(path)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", path, err, says)
		}
	}
	if raw, err := os.ReadFile(there); err != nil || string(raw) != "old" {
		t.Errorf("the old file holds %q, %v", raw, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("files left behind: %v, %v", list, err)
	}
}

func TestTheWishForColour(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	for color, want := range map[string]bool{"auto": false, "never": false, "always": true} {
		out, err := written(t, "", "table", color)
		if err != nil || strings.Contains(out, "\x1b[1m") != want {
			t.Errorf("%s: colour %v, want %v (%v)", color, !want, want, err)
		}
	}
}

// Names and messages with everything that steers a terminal: C0, C1, DEL, bidi.
func TestFilesAreSafeToShow(t *testing.T) {
	const evil = "a\x1b[2J\a\u009b31m\x7f\u202eb\rc\td"
	const shown = `a\x1b[2J\x07\x9b31m\x7f\u202eb`
	s := nasty()
	s.Target.Model, s.Notes = evil, []string{evil}
	s.Errors[0].Message = evil + "\nnext"
	report := s.Markdown()
	sheet, err := s.CSV()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"CSV": sheet, "Markdown": report} {
		if strings.ContainsAny(text, "\x1b\a\u009b\x7f\u202e\r\t") {
			t.Errorf("%s holds control characters: %q", name, text)
		}
	}
	if want := shown + `\x0dc\x09d` + "\nnext\""; !strings.Contains(sheet, want) {
		t.Errorf("no %q in\n%s", want, sheet)
	}
	// Markdown doubles the backslash and keeps a bracket from opening a link.
	want := strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(shown) + " c d"
	if !strings.Contains(report, "## "+want) {
		t.Errorf("no %q in\n%s", want, report)
	}
}

func TestTheFloorInTheTable(t *testing.T) {
	s := nasty()
	for _, c := range []struct {
		r    Roofline
		mean Number
		want string
	}{
		{Roofline{opt.Of(7.5), opt.Of(20), opt.Of(0.612), opt.Of(0.24)}, opt.Of(12), "\nfloor: TPOT 7.50 ms (1.6× above), TTFT 20.0 ms · MBU 61 % · MFU 24 %\n"},
		{Roofline{TPOTFloorMS: opt.Of(7.5)}, opt.Of(7), "\nfloor: TPOT 7.50 ms (the mean is below it)\n"},
		{Roofline{TPOTFloorMS: opt.Of(7.5)}, opt.Float{}, "\nfloor: TPOT 7.50 ms\n"},
		{Roofline{MFU: opt.Of(0.24)}, opt.Float{}, "\nMFU 24 %\n"},
	} {
		s.Roofline, s.LatencyMS.TPOT.Mean = c.r, c.mean
		if text := s.Text(80, false); !strings.Contains(text, c.want) {
			t.Errorf("no %q in\n%s", c.want, text)
		}
	}
	s.Roofline = Roofline{}
	if text := s.Text(80, false); strings.Contains(text, "floor") {
		t.Errorf("an unknown floor in\n%s", text)
	}
}

// A quantile in the lowest or the highest bucket is known by its bound only.
func TestAnEstimateBelowItsLowestBound(t *testing.T) {
	e := Estimate{
		N: 100, Mean: opt.Of(200), P50: opt.Of(250), P95: opt.Of(494.4), P99: opt.Of(875), Below: map[string]Number{"p50": opt.Of(300)},
	}
	s := nasty()
	s.Engine.LatencyMS.TTFT = e
	text := s.Text(80, false)
	if want := "engine TTFT      100     200    <300             494     875            est."; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	if raw, err := json.Marshal(e); err != nil || strings.Contains(strings.ToLower(string(raw)), "below") {
		t.Errorf("%s, %v", raw, err)
	}
}
