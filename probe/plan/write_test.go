package plan

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/opt"
)

// isClean checks every format: valid, without NaN, infinities and escape codes.
func isClean(t *testing.T, p Plan) {
	t.Helper()
	for _, format := range []string{"table", "json", "csv", "md"} {
		var b bytes.Buffer
		if err := p.Write(&b, format, 80, false); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if text := b.String(); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "\x1b") {
			t.Fatalf("%s: %s", format, text)
		}
		if format == "json" && !json.Valid(b.Bytes()) {
			t.Fatalf("no JSON: %s", b.String())
		}
	}
}

func example(t *testing.T) Plan {
	return made(t, Ask{
		Headroom: 0.5, Limits: []Limit{{"rpm", 1000}, {"tpm", 1e6}},
		Workloads: []Workload{{Name: "a", RequestsPerS: 1, Input: 1000, Output: 100, E2ES: 2}, {Name: "b", RequestsPerS: 3, Input: 1000, Output: 100}},
		Sweep:     sweep(t, strings.ReplaceAll(sweepFile, `"e2e": `, `"other": `)),
	})
}

func TestUnknownIsNullAndADash(t *testing.T) {
	p := example(t)
	isClean(t, p)
	var b bytes.Buffer
	if err := p.Write(&b, "json", 0, false); err != nil {
		t.Fatal(err)
	}
	var form struct {
		Schema string           `json:"schema"`
		Total  map[string]any   `json:"total"`
		Model  any              `json:"model"`
		Rep    map[string]any   `json:"replicas"`
		Rows   []map[string]any `json:"workloads"`
		Limits []map[string]any `json:"limits"`
		With   map[string]any   `json:"with_headroom"`
	}
	if err := json.Unmarshal(b.Bytes(), &form); err != nil {
		t.Fatal(err)
	}
	if form.Schema != "sonde/plan/1" || form.Total["concurrency"] != nil || form.Total["rpm"] != 240.0 || form.Rows[0]["concurrency"] != 2.0 {
		t.Errorf("%s", b.String())
	}
	if form.With["total_tpm"] != 396_000.0 || form.Limits[1]["max_rpm"] == nil || form.Rep["needed"] != 2.0 {
		t.Errorf("%s", b.String())
	}
	if text := p.text(80, false); !strings.Contains(text, "—") || !strings.Contains(text, "2 replicas") {
		t.Errorf("%s", text)
	}
}

func TestTheTableFitsAndHasColourOnRequest(t *testing.T) {
	p := example(t)
	for _, width := range []int{40, 80, 120} {
		for line := range strings.Lines(p.text(width, true)) {
			if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("wider than %d: %q", width, line)
			}
		}
	}
	if !strings.Contains(p.text(80, true), "\x1b[1m") || strings.Contains(p.text(80, false), "\x1b") {
		t.Error("colour is not as asked")
	}
}

func TestCSVHasARowPerWorkload(t *testing.T) {
	var b bytes.Buffer
	if err := example(t).Write(&b, "csv", 0, false); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 5 || rows[3][0] != "total" || rows[4][0] != "with_headroom" || rows[2][9] != "" || rows[4][5] != "360" {
		t.Errorf("%v, %q", err, rows)
	}
}

func TestFiguresAsPeopleWriteThem(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.25: "0.25", 240: "240", 999.94: "999.9", 999.96: "1k", 1000: "1k", 1_440_000: "1.44M", 2.52e6: "2.52M",
		16_900: "16.9k", 3.282051: "3.282", 1e18: "1000P", 1e21: "1.00e+06P", 0.00001: "1.00e-05",
	} {
		if got := figure(opt.Of(v)); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
	if got := sized(opt.Of(131_072)); got != "128 KiB" {
		t.Error(got)
	}
	if figure(opt.Float{})+sized(opt.Float{})+percent(opt.Float{}) != "———" {
		t.Error("unknown is no dash")
	}
}
