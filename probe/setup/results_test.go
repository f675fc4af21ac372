package setup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/config"
	"sonde/probe/measure"
	"sonde/probe/report"
)

const recording = "../record/testdata/sim.jsonl"

// saved writes a Summary with one TTFT into a file, and gives its path.
func saved(t *testing.T, name string, seed uint64, ttft float64) string {
	t.Helper()
	s := report.Summary{Run: report.Run{Schema: report.Schema, Started: report.Instant{Time: time.Unix(1e9, 0)}, Seed: seed}}
	s.DurationS.V, s.DurationS.OK = 10, true
	s.Requests = measure.Counts{Sent: 1, OK: 1}
	d := measure.NewDist(10)
	d.Add(ttft)
	s.Distributions = &report.Distributions{}
	s.Distributions.LatencyMS.TTFT = d.Distribution()
	of := d.Summary()
	s.LatencyMS.TTFT = report.QuantilesOf(&of)
	text, err := report.Render(s, "json", 80, false)
	path := filepath.Join(t.TempDir(), name)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Results and recordings are runs alike.
func TestCompareReadsResultsAndRecordings(t *testing.T) {
	file := saved(t, "a.json", 1, 50)
	c, err := Compare(context.Background(), config.Config{Compare: config.Compare{Before: []string{file}, After: []string{recording}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Levels[0].Figures {
		if f.Name == "ttft_p50" && (f.Before.Mean.V != 50 || f.After.Known != 1 || !f.Change.OK) {
			t.Errorf("%+v", f)
		}
	}
	if !slices.Equal(c.After, []string{recording}) {
		t.Errorf("%v", c.After)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	file := saved(t, "a.json", 1, 50)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"nothing.json":    "nothing.json: cannot read the file: no such file or directory",
		".":               ".: cannot read the file: is a directory",
		empty:             "not a JSON file from sonde bench or sonde sweep",
		"results_test.go": "not a JSON file from sonde bench or sonde sweep",
	} {
		c := config.Config{Compare: config.Compare{Before: []string{file}, After: []string{path}}, Merge: config.Merge{Files: []string{file, path}}}
		if _, err := Compare(context.Background(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("compare %s: %v", path, err)
		}
		if _, err := Merge(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("merge %s: %v", path, err)
		}
	}
	if _, err := Compare(context.Background(), config.Config{Compare: config.Compare{Before: []string{file}}}); err == nil || !strings.Contains(err.Error(), "files on both sides") {
		t.Error(err)
	}
}

func TestMergeReadsSummariesOnly(t *testing.T) {
	a, b := saved(t, "a.json", 1, 50), saved(t, "b.json", 2, 70)
	s, err := Merge(config.Config{Merge: config.Merge{Files: []string{a, b}}})
	if err != nil || s.LatencyMS.TTFT.N != 2 || s.LatencyMS.TTFT.Mean.V != 60 || s.Clients[0].Name != "a" || s.Clients[1].Name != "b" {
		t.Errorf("%+v, %v", s.Clients, err)
	}
	if _, err := Merge(config.Config{Merge: config.Merge{Files: []string{a, recording}}}); err == nil || !strings.Contains(err.Error(), "it is a recording") {
		t.Error(err)
	}
	sweep := filepath.Join(t.TempDir(), "sweep.json")
	if err := os.WriteFile(sweep, []byte(`{"schema":"sonde/summary/1","levels":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(config.Config{Merge: config.Merge{Files: []string{a, sweep}}}); err == nil || !strings.Contains(err.Error(), "it is a sweep") {
		t.Error(err)
	}
	if got := shortNames([]string{"x/a.json", "y/a.json"}); got[0] != "x/a.json" {
		t.Errorf("%v", got)
	}
}
