package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/bench"
	"sonde/probe/level"
	"sonde/probe/report"
	"sonde/probe/sim"
	"sonde/probe/simtest"
	"sonde/probe/slo"
	"sonde/probe/sweep"
)

// watcher notes what it is told.
type watcher struct {
	ended []level.Level
	last  sweep.Status
}

func (w *watcher) At(s sweep.Status)     { w.last = s }
func (w *watcher) Ended(row level.Level) { w.ended = append(w.ended, row) }

// swept runs a sweep on an engine that runs at most 8 sequences; it is interrupted after a time, if
// that is not 0.
func swept(t *testing.T, rungs []float64, slos []slo.Target, interrupt time.Duration) (s report.SweepSummary, w *watcher) {
	w = &watcher{}
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{MaxSeqs: 8}, probe.Options{Seed: 7})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if interrupt > 0 {
			time.AfterFunc(interrupt, cancel)
		}
		load := r.Session.Load()
		after := load
		after.Concurrency = 0
		o, err := bench.RunSweep(ctx, r.Session, bench.Plan{Load: load, Seed: 7, SLOs: slos, Prefix: "unique", DrainFor: time.Minute},
			sweep.Plan{Load: load, Rungs: rungs, After: after}, w)
		s = report.NewSweep(&o)
		if err != nil {
			t.Error(err)
		}
		frames := r.Session.Since(0)
		if last := frames[len(frames)-1]; last.Client.InFlight != 0 {
			t.Errorf("%d requests are left running", last.Client.InFlight)
		}
	})
	return s, w
}

var ttft = []slo.Target{{Text: "ttft_p95=300ms", Metric: "ttft", Quantile: 0.95, LimitMS: 300}}

// The level's Summary and its row are the same measurement, counted in two ways: by what of each
// request lies in the window, and by the tokens of each slice.
func TestLevelsAreSummaries(t *testing.T) {
	s, w := swept(t, []float64{4, 8, 16, 8}, ttft, 0)
	if len(s.Levels) != 3 || len(w.ended) != 4 || s.Interrupted || s.EndedEarly != "" || s.ExitCode() != 0 {
		t.Fatalf("%d levels, %d ended, %+v", len(s.Levels), len(w.ended), s)
	}
	for i, want := range []float64{4, 8, 16} {
		l := &s.Levels[i]
		if float64(l.Load.Concurrency) != want || !l.Settled || l.Requests.Failed != 0 || l.Requests.Cancelled != 0 || l.LatencyMS.TTFT.N != l.Requests.OK {
			t.Errorf("%+v", l)
		}
		if visits := map[float64]int{4: 1, 8: 2, 16: 1}[want]; l.Visits != visits {
			t.Errorf("%v streams: %d visits", want, l.Visits)
		}
		if little := l.LittleRatio.V; math.Abs(little-1) > 0.03 || math.Abs(l.ConcurrencyMean.V-want) > 0.05*want {
			t.Errorf("%v streams: Little %v, in flight %v", want, little, l.ConcurrencyMean)
		}
	}
	for _, row := range w.ended[:3] {
		for i := range s.Levels {
			l := &s.Levels[i]
			if l.Load.Concurrency != row.Load.Concurrency || l.Visits > 1 {
				continue
			}
			if d := l.Rates.OutputPerS.V/row.OutTokensPerS.V - 1; math.Abs(d) > 0.01 {
				t.Errorf("%d streams: %v tok/s in the Summary, %v in the row", row.Load.Concurrency, l.Rates.OutputPerS, row.OutTokensPerS)
			}
			if d := l.Rates.RequestsPerS.V/row.RequestsPerS.V - 1; math.Abs(d) > 0.05 {
				t.Errorf("%d streams: %v requests/s in the Summary, %v in the row", row.Load.Concurrency, l.Rates.RequestsPerS, row.RequestsPerS)
			}
			if d := l.Requests.OK - row.OK; d != 0 { // its last Frame is among them
				t.Errorf("%d streams: %d requests in the Summary, %d in the row", row.Load.Concurrency, l.Requests.OK, row.OK)
			}
		}
	}
	if s.Best == nil || s.Best.Concurrency != 8 || s.Best.Above.Concurrency != 16 || s.Best.RPM.V != s.Levels[1].Rates.RPM.V || s.Best.Confidence.V < 0.95 {
		t.Errorf("best %+v", s.Best)
	}
}

func TestSweepInEveryFormat(t *testing.T) {
	s, _ := swept(t, []float64{4, 8, 16}, ttft, 0)
	as := func(format string) string {
		text, err := report.Render(s, format, 80, false)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	table, md, js, rows := as("table"), as("md"), as("json"), as("csv")
	for line := range strings.Lines(table) {
		if n := len([]rune(line)) - 1; n > 80 {
			t.Errorf("%d cells wide: %s", n, line)
		}
	}
	for _, want := range []string{"sonde sweep", "TTFT p95", "best", "knee at 8 streams", "limit of sequences", "8 streams meet all SLOs", "█"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	for _, want := range []string{"| load | n |", "### Capacity within the SLOs", "requests per s (QPS)", "### Knee", "- elasticity of throughput"} {
		if !strings.Contains(md, want) {
			t.Errorf("the report lacks %q:\n%s", want, md)
		}
	}
	var form struct {
		Schema string
		Levels []struct {
			Schema string
			Load   struct{ Concurrency int }
			Rates  map[string]float64
		}
		Knee *struct {
			Concurrency int
			Exhausted   string
			Evidence    []string
		}
		Best *struct {
			Concurrency int
			RPM         float64
		} `json:"best_within_slo"`
	}
	if err := json.Unmarshal([]byte(js), &form); err != nil {
		t.Fatal(err)
	}
	if form.Schema != report.Schema || len(form.Levels) != 3 || form.Levels[0].Schema != report.Schema || form.Levels[2].Load.Concurrency != 16 ||
		form.Knee == nil || form.Knee.Exhausted != "max_sequences" || form.Best == nil || form.Best.Concurrency != 8 {
		t.Errorf("%s", js)
	}
	checkPicture(t, s)
	cells, err := csv.NewReader(strings.NewReader(rows)).ReadAll()
	if err != nil || len(cells) != 4 {
		t.Fatalf("%v, %d rows", err, len(cells))
	}
	for _, column := range []string{"load.concurrency", "latency_ms.ttft.p95", "rates.output_tokens_per_s", "settled"} {
		if !strings.Contains(strings.Join(cells[0], " ")+" ", column+" ") {
			t.Errorf("no column %s in %v", column, cells[0])
		}
	}
}

// Everything that there is when the sweep is interrupted is kept; the level that was going on says
// that it is of a part only.
func TestInterruptedSweep(t *testing.T) {
	s, w := swept(t, []float64{4, 8, 16}, nil, 40*time.Second)
	if !s.Interrupted || s.ExitCode() != 130 || len(s.Levels) < 1 || s.Levels[0].Interrupted || s.Levels[0].Requests.OK < 50 {
		t.Fatalf("%+v", s)
	}
	last := &s.Levels[len(s.Levels)-1]
	if len(s.Levels) != 2 || !last.Interrupted || w.last.State != sweep.Paused {
		t.Errorf("%d levels, %+v, %+v", len(s.Levels), last, w.last)
	}
}

// Interrupted before the first answer, a sweep has no level; it still says what was asked of
// whom, in the words of the contract.
func TestSweepInterruptedBeforeTheFirstAnswer(t *testing.T) {
	s, _ := swept(t, []float64{4, 8}, nil, 300*time.Millisecond)
	if len(s.Levels) != 0 || !s.Interrupted || s.ExitCode() != 130 {
		t.Fatalf("%+v", s)
	}
	if s.Load.Mode != "closed" || s.Load.OutputTokens == 0 || !s.Load.InputTokens.OK || s.Load.Prefix != "unique" || s.Target.URL == "" {
		t.Errorf("load %+v, target %+v", s.Load, s.Target)
	}
}

// No load meets a level that is out of reach, and the exit code says so.
func TestNoLoadMeetsTheLevels(t *testing.T) {
	s, _ := swept(t, []float64{2, 4}, []slo.Target{{Text: "tpot_p50=1ms", Metric: "tpot", Quantile: 0.5, LimitMS: 1}}, 0)
	if s.ExitCode() != 1 || s.Best != nil || !strings.Contains(s.Verdict[0].Says, "no load meets the SLOs: 2 streams miss tpot_p50=1ms") {
		t.Errorf("code %d, %+v", s.ExitCode(), s.Verdict)
	}
}

// The picture is XML, with two points for each level, the limit, the knee and the boundary; it stands
// beside a report, which shows it, and beside nothing else.
func checkPicture(t *testing.T, s report.SweepSummary) {
	t.Helper()
	dir := t.TempDir()
	if err := s.Illustrate(filepath.Join(dir, "a.json"), "json"); err != nil {
		t.Error(err)
	}
	if err := s.Illustrate(filepath.Join(dir, "report.md"), "md"); err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 || files[0].Name() != "report-curve.svg" {
		t.Fatalf("%v", files)
	}
	raw, _ := os.ReadFile(filepath.Join(dir, "report-curve.svg"))
	points, texts := 0, ""
	for d := xml.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "circle" {
				points++
			}
		case xml.CharData:
			texts += string(e) + "|"
		}
	}
	for _, want := range []string{"output tokens/s", "TTFT p95, ms", "SLO 300 ms", "largest within SLO, knee", "streams in flight"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the picture lacks %q: %s", want, texts)
		}
	}
	if points != 2*len(s.Levels) || strings.Contains(string(raw), "NaN") {
		t.Errorf("%d points of %d levels", points, len(s.Levels))
	}
	if md := s.Markdown(); !strings.Contains(md, "](report-curve.svg)") {
		t.Errorf("%s", md)
	}
}
