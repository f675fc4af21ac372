package report

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// nasty is of a server that answers with everything that could break a file: one answer of
// three tokens, and two refusals.
func nasty() Summary {
	one := func(v float64) Quantiles {
		f := opt.Of(v)
		return Quantiles{N: 1, Mean: f, Min: f, P50: f, P90: f, P95: f, P99: f, P999: f, Max: f, Weak: []string{"p90", "p95", "p99", "p999"}}
	}
	return Summary{
		Run: Run{
			Schema: Schema, Started: Instant{time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)}, DurationS: opt.Of(0.07), Seed: 7,
			Target: Target{URL: "http://h:8000/v1/chat/completions", Model: "=1+1|*\x1b[2J", Engine: "vllm", EngineVersion: "0.11"},
			Load:   Load{Mode: "closed", Mark: Mark{Concurrency: 4}, InputTokens: opt.Of(8), OutputTokens: 100, Prefix: "unique"},
		},
		Requests: measure.Counts{Sent: 3, OK: 1, Failed: 2, ByClass: map[measure.Class]int{measure.RateLimited: 2}},
		Errors: []ErrorCount{
			{Class: measure.RateLimited, Message: "=1+1", Count: 1},
			{Class: measure.RateLimited, Message: "a,\"b\"\nc", Count: 1},
		},
		Tokens:      TokenCounts{Input: opt.Of(8), Output: 3, Source: "usage", PerChunk: opt.Of(1)},
		LatencyMS:   Latencies{TTFT: one(50), TTFA: one(50), TPOT: one(10), E2E: one(70)},
		LittleRatio: opt.Of(1.25),
		Engine:      EngineFigures{RunningMean: opt.Of(math.NaN())},
		GPUs:        []GPUFigures{{ID: "GPU-a", Name: "H100", SMMean: opt.Of(0.5), PowerWMean: opt.Of(math.Inf(1))}},
		Client:      ClientFigures{LateMSP99: opt.Of(math.NaN())},
	}
}

func TestTableFitsAndIsPlain(t *testing.T) {
	for _, width := range []int{80, 40} {
		text := nasty().Text(width, false)
		if strings.ContainsRune(text, '\x1b') {
			t.Error("escape codes in plain text")
		}
		for _, line := range strings.Split(text, "\n") {
			if ansi.StringWidth(line) > width {
				t.Errorf("%d cells in a line for %d: %q", ansi.StringWidth(line), width, line)
			}
		}
	}
}

func TestTableShowsTheFigures(t *testing.T) {
	text := ansi.Strip(nasty().Text(80, true))
	for _, want := range []string{
		"sent 3   ok 1   failed 2",
		"TTFT               1    50.0    50.0    50.0?   50.0?   50.0?   50.0?   50.0\n",
		"1 × rate_limited: =1+1",
		`1 × rate_limited: a,"b" c`,
		"GPUs", "SM 50.0 % · DRAM — · busy —",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestTableOfEverything(t *testing.T) {
	const far = "an error message that is far longer than the eighty cells of a usual terminal, and so goes on below"
	s := nasty()
	s.Errors = append(s.Errors, ErrorCount{Class: measure.Timeout, Message: far, Count: 1200})
	s.Notes = append(s.Notes, "warm-up: 4 requests are excluded from results")
	s.Engine.RunningMean, s.Engine.KVFillMean, s.Engine.KVFillMax = opt.Of(15.96), opt.Of(0.4), opt.Of(0.63)
	s.Engine.LatencyMS.TTFT = Estimate{N: 40, P50: opt.Of(300), P95: opt.Of(937.5), Above: map[string]Number{"p99": opt.Of(1000)}}
	yes, no := true, false
	s.SLO = []SLOResult{
		{SLO: "ttft_p95=2s", Metric: "ttft", Actual: opt.Of(840), Met: &yes},
		{SLO: "success=99.9", Metric: "success", Actual: opt.Of(0.5), Met: &no},
		{SLO: "tpot_p95=40ms", Metric: "tpot"},
	}
	s.Verdict = []Verdict{{Rule: "r", Says: "all is lost", Evidence: []string{"everything"}, Advice: "go home"}}
	s.Interrupted = true
	text := s.Text(80, false)
	for _, want := range []string{
		"engine TTFT       40       —     300             938   >1000            est.",
		"running 16.0 mean · waiting — max · KV cache 40.0 % mean, 63.0 % max",
		"ttft_p95=2s                  met      840 ms",
		"success=99.9                 MISSED   50.0 %",
		"tpot_p95=40ms                unknown  — ms",
		" 1200 × timeout: an error message",
		" of a\n        usual terminal, and so goes on below\n",
		"- warm-up: 4 requests are excluded from results",
		"▲ all is lost\n    everything\n  → go home\n",
		"INTERRUPTED",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestCSVHasTheSameColumnsInEveryRow(t *testing.T) {
	other := Summary{Requests: measure.Counts{ByClass: map[measure.Class]int{measure.Timeout: 1}}}
	text, err := CSV([]Summary{nasty(), other})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll() // fails on rows of unequal length
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	cell := func(row int, column string) string {
		i := slices.Index(rows[0], column)
		if i < 0 {
			t.Fatalf("no column %s in %q", column, rows[0])
		}
		return rows[row][i]
	}
	for _, c := range []struct {
		row          int
		column, want string
	}{
		{1, "target.model", `'=1+1|*\x1b[2J`},
		{1, "errors.0.message", "'=1+1"},
		{1, "errors.1.message", "a,\"b\"\nc"},
		{1, "latency_ms.ttft.p50", "50"},
		{1, "latency_ms.ttft.weak", "p90; p95; p99; p999"},
		{1, "little_ratio", cell(1, "little_ratio")},
		{1, "requests.by_class.rate_limited", "2"},
		{2, "requests.by_class.rate_limited", ""},
		{2, "requests.by_class.timeout", "1"},
		{2, "latency_ms.ttft.p50", ""},
		{2, "load.rate", ""},
	} {
		if got := cell(c.row, c.column); got != c.want {
			t.Errorf("row %d, %s = %q, want %q", c.row, c.column, got, c.want)
		}
	}
}

func TestNegativeNumbersAreNoFormulas(t *testing.T) {
	if got := (field{value: "-1.5"}).cell(); got != "-1.5" {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{"-1.5": "'-1.5", "=1": "'=1", "+1": "'+1", "@a": "'@a", "\tx": `'\x09x`} {
		if got := (field{value: text, isText: true}).cell(); got != want {
			t.Errorf("%q", got)
		}
	}
}

func TestMarkdownEscapesTheServersWords(t *testing.T) {
	text := nasty().Markdown()
	for _, want := range []string{`## =1+1\|\*`, "| TTFT | 1 | 50.0 | 50.0 | 50.0? |", `- 1 × rate\_limited: =1+1`, "| requests ok / failed / cancelled | 1 / 2 / 0 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.ContainsRune(text, '\x1b') {
		t.Error("escape codes")
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 1.234: "1.23", 9.996: "10.0", 14.06: "14.1", 99.96: "100", 1234.4: "1234"} {
		if got := figure(opt.Of(v)); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	if figure(opt.Float{}) != "—" || percent(opt.Float{}) != "—" {
		t.Error("unknown is no dash")
	}
}

// What a session remarks at every tick is told once, whatever else is told in between.
func TestNotesAreToldOnce(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	line := NewProgressLine(out)
	for _, note := range []string{"stopped for a while", "stopped for a while", "other", "stopped for a while"} {
		line.Notes(&frame.Frame{Events: []frame.Event{{Kind: frame.EventNote, Text: note}}})
	}
	raw, err := os.ReadFile(out.Name())
	if err != nil || string(raw) != "stopped for a while\nother\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

// "connect: connection refused" needs no second "connect:" before it.
func TestAnErrorNamesItsClassOnce(t *testing.T) {
	for message, want := range map[string]string{"connect: connection refused": "connect: connection refused", "refused": "connect: refused"} {
		if got := named(&ErrorCount{Class: measure.Connect, Message: message}); got != want {
			t.Errorf("%q", got)
		}
	}
}

func TestProgressLine(t *testing.T) {
	p := bench.Progress{Phase: bench.Measuring, Elapsed: 12200 * time.Millisecond, Of: 30 * time.Second, Ended: 40, InFlight: 16, Failed: 2, OutTokensPerS: 1142}
	if got := progressText(&p); got != "measuring · 12 of 30 s · 40 requests · 16 in flight · 1142 tok/s · 2 failed" {
		t.Errorf("%q", got)
	}
}
