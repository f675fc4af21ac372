package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/report"
)

// level is one load with a few figures.
func level(streams int, ttft, tpot float64) report.Level {
	l := report.Level{Settled: true}
	l.Load = report.Load{Mode: "closed", Mark: report.Mark{Concurrency: streams}, InputTokens: opt.Of(256), OutputTokens: 64, Prefix: "unique"}
	l.Target.Model, l.Target.Engine, l.Target.EngineVersion = "llama", "vllm", "0.10"
	l.Requests = measure.Counts{Sent: 200, OK: 200}
	l.LatencyMS.TTFT = report.Quantiles{N: 200, Mean: opt.Of(ttft), P50: opt.Of(ttft), P95: opt.Of(2 * ttft), P99: opt.Of(3 * ttft), P999: opt.Of(4 * ttft), Weak: []string{"p999"}}
	l.LatencyMS.TPOT = report.Quantiles{N: 200, Mean: opt.Of(tpot), P50: opt.Of(tpot), P95: opt.Of(tpot), P99: opt.Of(tpot)}
	l.Rates.OutputPerS = opt.Of(1000 * float64(streams) / tpot)
	l.Lengths.Input.Mean, l.Lengths.Output.Mean = opt.Of(256), opt.Of(64)
	return l
}

func run(name string, levels ...report.Level) Run {
	f := &report.File{Single: len(levels) == 1}
	f.Levels = levels
	f.Run = levels[0].Run
	return Run{name, f}
}

// runs are five of one load, with TPOT scattered by about 1 % around a mean.
func runs(name string, tpot float64) []Run {
	var out []Run
	for i, off := range []float64{-0.012, -0.004, 0, 0.005, 0.011} {
		ttft := 100 * (1 + []float64{0.02, -0.01, 0.015, -0.03, 0}[i])
		out = append(out, run(fmt.Sprint(name, i+1, ".json"), level(8, ttft, tpot*(1+off))))
	}
	return out
}

func compared(t *testing.T, a Ask) Comparison {
	t.Helper()
	c, err := Compare(a)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Comparison) named(name string) *Figure {
	var found *Figure
	c.every(func(_ string, f *Figure) {
		if f.Name == name && found == nil {
			found = f
		}
	})
	return found
}

// TPOT is 5 % higher and so its rate is 1/1.05 − 1 = −4.76 %; TTFT is the same.
func TestWhatChangedAndWhatDidNot(t *testing.T) {
	c := compared(t, Ask{Before: runs("a", 20), After: runs("b", 21)})
	tpot, out, ttft := c.named("tpot_p50"), c.named("output_tokens_per_s"), c.named("ttft_p95")
	if !tpot.Differs || tpot.Effect != "worse" || math.Abs(tpot.Change.V-0.05) > 1e-6 || !(tpot.Low.V > 0.02 && tpot.High.V < 0.08) || !(tpot.P.V < 0.05) {
		t.Errorf("TPOT %+v", tpot)
	}
	if !out.Differs || out.Effect != "worse" || math.Abs(out.Change.V-(1/1.05-1)) > 1e-6 {
		t.Errorf("tok/s %+v", out)
	}
	if ttft.Differs || ttft.Change.V != 0 || ttft.P.V < 0.9 || !(ttft.Low.V < 0 && ttft.High.V > 0) {
		t.Errorf("TTFT %+v", ttft)
	}
	if !c.Comparable || len(c.Differences) != 0 || len(c.Doubts) != 0 || !c.CanShow {
		t.Errorf("%+v", c)
	}
	text := c.Text(100, false)
	for _, want := range []string{"5 runs (a1.json, …) → 5 runs (b1.json, …)", "▲ TPOT p50 +5.0 %, worse", "TTFT p95 ms", " ~ "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// An interval excludes "no change" exactly where a difference is called.
func TestIntervalsAgreeWithTheCalls(t *testing.T) {
	for _, tpot := range []float64{20, 20.2, 20.3, 20.4, 20.5, 20.8, 19.5} {
		c := compared(t, Ask{Before: runs("a", 20), After: runs("b", tpot)})
		c.every(func(_ string, f *Figure) {
			if f.P.OK && f.P.V < 1 && f.Differs != (f.Low.V > 0 || f.High.V < 0) || f.Differs != (f.P.V <= alpha && f.P.OK) {
				t.Errorf("TPOT %v: %+v", tpot, f)
			}
		})
	}
}

// KV cache fill changes and no headline figure does: it is not judged. It is once TPOT differs, or if
// a condition names it.
func TestFurtherFiguresAreJudgedAfterTheHeadlines(t *testing.T) {
	fill := func(runs []Run, share float64) []Run {
		for i := range runs {
			runs[i].Levels[0].Engine.KVFillMax = opt.Of(share + 0.001*float64(i))
		}
		return runs
	}
	named, _ := ParseConditions([]string{"kv_fill_max>+50points"})
	for _, c := range []struct {
		tpot       float64
		conditions []Condition
		differs    bool
	}{{20, nil, false}, {21, nil, true}, {20, named, true}} {
		all := compared(t, Ask{Before: fill(runs("a", 20), 0.5), After: fill(runs("b", c.tpot), 0.6), Conditions: c.conditions})
		if f := all.named("kv_fill_max"); f.Differs != c.differs || f.P.OK != c.differs || math.Abs(f.Change.V-0.1) > 1e-6 {
			t.Errorf("TPOT %v, %v: %+v", c.tpot, c.conditions, f)
		}
	}
}

// A doubt about many runs is one line.
func TestDoubtsAreShort(t *testing.T) {
	a := runs("a", 20)
	for i := range a {
		a[i].Levels[0].Settled = false
	}
	c := compared(t, Ask{Before: a, After: runs("b", 20)})
	if got := c.doubtTexts(); len(c.Doubts) != 5 || !slices.Equal(got, []string{"a1.json, a2.json, a3.json and 2 more had not settled"}) {
		t.Errorf("%q", got)
	}
}

func TestRunsAreTakenInTurns(t *testing.T) {
	for _, c := range []struct {
		apart, after int64 // seconds
		warned       bool
	}{{20, 10, false}, {20, 100, true}, {20, -100, true}, {0, 0, false}} {
		a, b := runs("a", 20), runs("b", 20)
		for i := range a {
			if c.apart > 0 { // else nothing says when
				a[i].Started.Time, b[i].Started.Time = time.Unix(1000+c.apart*int64(i), 0), time.Unix(1000+c.apart*int64(i)+c.after, 0)
			}
		}
		if all := compared(t, Ask{Before: a, After: b}); strings.Contains(all.Runs, "take runs in turns") != c.warned {
			t.Errorf("%+v: %s", c, all.Runs)
		}
	}
}

func TestARunCountsOnce(t *testing.T) {
	a := runs("a", 20)
	for i := range a {
		a[i].Started.Time = time.Unix(int64(1000+i), 0)
	}
	a[3].Started = a[1].Started
	if _, err := Compare(Ask{Before: a, After: runs("b", 20)}); err == nil || err.Error() != "a2.json and a4.json are the same run: name each run once" {
		t.Errorf("%v", err)
	}
}

func TestOneRunOnEachSideShowsNothing(t *testing.T) {
	c := compared(t, Ask{Before: runs("a", 20)[:1], After: runs("b", 40)[:1]})
	f := c.named("tpot_p50")
	if f.Differs || f.P.OK || f.Low.OK || math.Abs(f.Change.V-1) > 1e-6 || c.CanShow {
		t.Errorf("%+v", f)
	}
	if text := c.Text(80, false); !strings.Contains(text, "one run on each side cannot show a difference") || !strings.Contains(text, "+100.0 %?") {
		t.Errorf("%s", text)
	}
}

func TestWhyRunsAreNotComparable(t *testing.T) {
	a, b := runs("a", 20)[:1], runs("b", 20)[:1]
	l := &b[0].Levels[0]
	l.Target.Model, l.Target.EngineVersion, l.Load.Prefix, l.Load.Concurrency = "qwen", "0.11", "shared", 16
	l.Load.OutputTokens, l.Lengths.Output.Mean = 128, opt.Of(80)
	l.Client.Bottleneck, l.Interrupted = true, true
	b[0].Run = l.Run
	c := compared(t, Ask{Before: a, After: b})
	var kinds, doubts []string
	for _, d := range c.Differences {
		kinds = append(kinds, d.Kind)
	}
	for _, d := range c.Doubts {
		doubts = append(doubts, d.Run+" "+d.Kind)
	}
	if got := strings.Join(kinds, " "); got != "model load requested_output prompt_prefix engine measured_output" || c.Comparable {
		t.Errorf("differences %s", got)
	}
	if !slices.Equal(doubts, []string{"b1.json interrupted", "b1.json client_limited"}) {
		t.Errorf("doubts %v", doubts)
	}
	text := c.Text(80, false)
	if !strings.Contains(text, "- model: llama before, qwen after") || strings.Index(text, "NOT COMPARABLE") > strings.Index(text, "TTFT p50") {
		t.Errorf("%s", text)
	}
}

// Sweeps are compared load by load; loads of one side only are named.
func TestSweeps(t *testing.T) {
	sweep := func(name string, tpot float64, loads ...int) Run {
		var all []report.Level
		for _, n := range loads {
			all = append(all, level(n, 100, tpot*(1+float64(n)/100)))
		}
		r := run(name, all...)
		r.Knee = &report.KneeFigures{Mark: report.Mark{Concurrency: loads[1]}}
		return r
	}
	var a, b []Run
	for i := range 4 {
		off := 0.002 * float64(i)
		a, b = append(a, sweep("a", 20+off, 1, 4, 8)), append(b, sweep("b", 22+off, 1, 4, 16))
	}
	c := compared(t, Ask{Before: a, After: b})
	if len(c.Levels) != 2 || c.Levels[1].Load != "4 streams" || !slices.Equal(c.Unmatched, []Unmatched{{"before", "8 streams"}, {"after", "16 streams"}}) {
		t.Errorf("%+v", c)
	}
	for _, l := range c.Levels {
		i := slices.IndexFunc(l.Figures, func(f Figure) bool { return f.Name == "tpot_p50" })
		if f := l.Figures[i]; !f.Differs || math.Abs(f.Change.V-0.1) > 1e-3 {
			t.Errorf("%s: %+v", l.Load, f)
		}
	}
	if len(c.Capacity) != 2 || c.Capacity[0].Name != "knee" || c.Capacity[0].Change.V != 0 {
		t.Errorf("%+v", c.Capacity)
	}
	if text := c.Text(100, false); !strings.Contains(text, "TPOT p50 at 4 streams +10.0 %, worse") || !strings.Contains(text, "before: 8 streams") {
		t.Errorf("%s", text)
	}
	if _, err := Compare(Ask{Before: []Run{sweep("a", 1, 1, 2)}, After: []Run{sweep("b", 1, 3, 4)}}); err == nil || !strings.Contains(err.Error(), "no load in common: 1 stream, 2 streams before, 3 streams, 4 streams after") {
		t.Errorf("%v", err)
	}
}

// A figure that one run lacks is tested on the others; one that many lack is shown and not tested.
func TestAFigureThatSomeRunsLack(t *testing.T) {
	a, b := runs("a", 20), runs("b", 30)
	b[2].Levels[0].LatencyMS.TPOT = report.Quantiles{}
	c := compared(t, Ask{Before: a, After: b})
	if tpot := c.named("tpot_p50"); tpot.After.Known != 4 || !tpot.Differs || !strings.Contains(c.Text(120, false), "(4 of 5)") {
		t.Errorf("known in 4 of 5: %+v", tpot)
	}
	b[3].Levels[0].LatencyMS.TPOT = report.Quantiles{}
	c = compared(t, Ask{Before: a, After: b})
	if tpot := c.named("tpot_p50"); tpot.After.Known != 3 || tpot.P.OK || tpot.Differs || math.Abs(tpot.Change.V-0.5) > 0.02 || !c.named("output_tokens_per_s").Differs {
		t.Errorf("known in 3 of 5: %+v", tpot)
	}
}

func TestConditions(t *testing.T) {
	for list, want := range map[string]string{
		"tpot_p50>+4%":                         "FAILED tpot_p50>+4%: +5.0 %",
		"tpot_p50>6%":                          "ok tpot_p50>6%: +5.0 %",
		"output_tokens_per_s<-4%":              "FAILED output_tokens_per_s<-4%: -4.8 %",
		"output_tokens_per_s<-5%,ttft_p95>-1%": "ok output_tokens_per_s<-5%: -4.8 %|ok ttft_p95>-1%: +0.0 %, which is not shown to be a difference",
		"error_share>+1points":                 "ok error_share>+1points: +0.00 points",
		"kv_fill_max>+5points":                 "FAILED kv_fill_max>+5points: unknown on one side or both",
	} {
		conditions, err := ParseConditions([]string{list})
		if err != nil {
			t.Errorf("%s: %v", list, err)
			continue
		}
		c := compared(t, Ask{Before: runs("a", 20), After: runs("b", 21), Conditions: conditions})
		var got []string
		for _, r := range c.Conditions {
			got = append(got, map[bool]string{true: "FAILED ", false: "ok "}[r.Failed]+r.Condition+": "+r.Says)
		}
		if strings.Join(got, "|") != want || (c.ExitCode() == 1) != strings.Contains(want, "FAILED") {
			t.Errorf("%s: %q, exit code %d", list, got, c.ExitCode())
		}
	}
	one, _ := ParseConditions([]string{"tpot_p50>+4%"})
	c := compared(t, Ask{Before: runs("a", 20)[:1], After: runs("b", 21)[:1], Conditions: one})
	if r := c.Conditions[0]; !r.Failed || r.Says != "+5.0 % (too few runs to tell it from chance)" {
		t.Errorf("%+v", r)
	}
}

func TestInvalidConditions(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "must look like",
		"ttft_p95":           "must look like",
		"ttft_p95=10%":       "must look like",
		"ttft_p95>ten%":      "must look like",
		"ttft_p42>+10%":      "names no figure",
		"ttft_p95>+10":       "needs a change in percent",
		"error_share>+1%":    "percentage points",
		"preemptions>+10%":   "its change is a number",
		"ttft_p95>+10%,oops": `"oops" must look like`,
	} {
		if _, err := ParseConditions([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Every format is valid, without NaN, infinities and escape codes.
func TestFormats(t *testing.T) {
	b := runs("b", 21)
	b[0].Target.Model = "a\x1b[2J|b"
	for _, ask := range []Ask{{Before: runs("a", 20), After: b}, {Before: runs("a", 20)[:1], After: b[:1]}} {
		c := compared(t, ask)
		for _, format := range []string{"table", "json", "csv", "md"} {
			text, err := report.Render(c, format, 80, false)
			if err != nil || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "\x1b") {
				t.Errorf("%s: %v %q", format, err, text)
			}
			if format == "json" && (!json.Valid([]byte(text)) || !strings.Contains(text, `"schema": "sonde/compare/1"`)) {
				t.Errorf("no JSON: %s", text)
			}
		}
	}
}

// Only the work counts: loads may differ in their amount, and what is unknown differs from nothing.
func TestUnlikeRuns(t *testing.T) {
	a, b := run("a", level(8, 100, 20)), run("b", level(16, 100, 20))
	if got := Unlike(a, b); got != nil {
		t.Errorf("%+v", got)
	}
	b.Levels[0].Load.Prefix, b.Target.Model = "same", ""
	got := Unlike(a, b)
	if len(got) != 1 || got[0].Kind != "prompt_prefix" || got[0].Before[0] != "unique" || got[0].After[0] != "same" {
		t.Errorf("%+v", got)
	}
	if got := Unlike(a, Run{File: &report.File{}}); got != nil {
		t.Errorf("without levels: %+v", got)
	}
}

// Runs with a spread of lengths draw their own: 32 and 40 tokens were drawn and sent, which is chance and no reason
// against comparing. A server that cuts answers of 40 to 30 is one.
func TestLengthsThatWereDrawn(t *testing.T) {
	a, b := runs("a", 20), runs("b", 20)
	for i := range a {
		for _, r := range []struct {
			run            *Run
			drawn, counted float64
		}{{&a[i], 32, 32}, {&b[i], 40, 40}} {
			l := &r.run.Levels[0]
			l.Load.OutputSpread = "lognormal:32,0.5"
			l.Lengths.RequestedOutput.Mean, l.Lengths.Output.Mean = opt.Of(r.drawn), opt.Of(r.counted)
		}
	}
	if c := compared(t, Ask{Before: a, After: b}); len(c.Differences) != 0 {
		t.Errorf("%+v", c.Differences)
	}
	for i := range b {
		b[i].Levels[0].Lengths.Output.Mean = opt.Of(30)
	}
	if c := compared(t, Ask{Before: a, After: b}); len(c.Differences) != 1 || c.Differences[0].Kind != "measured_output" {
		t.Errorf("%+v", c.Differences)
	}
}
