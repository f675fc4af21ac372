package plan

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/report"
)

func as(t *testing.T, p Plan, format string) string {
	t.Helper()
	text, err := report.Render(p, format, 80, false)
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return text
}

// isClean checks every format: valid, without NaN, infinities and escape codes.
func isClean(t *testing.T, p Plan) {
	t.Helper()
	for _, format := range []string{"table", "json", "csv", "md"} {
		text := as(t, p, format)
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "\x1b") {
			t.Fatalf("%s: %s", format, text)
		}
		if format == "json" && !json.Valid([]byte(text)) {
			t.Fatalf("no JSON: %s", text)
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
	text := as(t, p, "json")
	var form struct {
		Schema string           `json:"schema"`
		Total  map[string]any   `json:"total"`
		Model  any              `json:"model"`
		Rep    map[string]any   `json:"replicas"`
		Rows   []map[string]any `json:"workloads"`
		Limits []map[string]any `json:"limits"`
		With   map[string]any   `json:"with_headroom"`
	}
	if err := json.Unmarshal([]byte(text), &form); err != nil {
		t.Fatal(err)
	}
	if form.Schema != "sonde/plan/1" || form.Total["concurrency"] != nil || form.Total["rpm"] != 240.0 || form.Rows[0]["concurrency"] != 2.0 {
		t.Errorf("%s", text)
	}
	if form.With["total_tpm"] != 396_000.0 || form.Limits[1]["max_rpm"] == nil || form.Rep["needed"] != 2.0 {
		t.Errorf("%s", text)
	}
	if text := p.Text(80, false); !strings.Contains(text, "—") || !strings.Contains(text, "2 replicas") {
		t.Errorf("%s", text)
	}
}

func TestTheTableFitsAndHasColourOnRequest(t *testing.T) {
	p := example(t)
	for _, width := range []int{40, 80, 120} {
		for line := range strings.Lines(p.Text(width, true)) {
			if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("wider than %d: %q", width, line)
			}
		}
	}
	if !strings.Contains(p.Text(80, true), "\x1b[1m") || strings.Contains(p.Text(80, false), "\x1b") {
		t.Error("colour is not as asked")
	}
}

func TestCSVHasARowPerWorkload(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(as(t, example(t), "csv"))).ReadAll()
	if err != nil || len(rows) != 5 || rows[3][0] != "total" || rows[4][0] != "with_headroom" || rows[2][9] != "" || rows[4][5] != "360" {
		t.Errorf("%v, %q", err, rows)
	}
}
