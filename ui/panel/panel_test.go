package panel

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/gpu"
	"sonde/probe/diagnose"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/roofline"
	"sonde/probe/slo"
	"sonde/probe/units"
	"sonde/ui/history"
)

// loadLines are the lines of the load panel at 120×40, which have 27 cells.
func loadLines(p *View) []string {
	l := (&load{})
	var lines []string
	for _, s := range l.lines(p, loadCells) {
		lines = append(lines, strings.Join(strings.Fields(ansi.Strip(s)), " "))
		if ansi.StringWidth(s) > loadCells {
			lines = append(lines, "too long: "+ansi.Strip(s))
		}
	}
	return lines
}

func TestTheLoadPanelCutsNothing(t *testing.T) {
	f := slice(1, time.Second)
	f.Load.Max = 256
	f.Client.InFlight, f.Client.Retrying = 30, 4
	f.Client.E2E = measure.Summary{N: 100, P50: 1440, P95: 1460}
	f.Client.Little, f.Load.Settled = opt.Of(1.44), true
	f.Client.InputTokens, f.Client.TokensEstimated = opt.Of(12290), true
	f.Health.Bottleneck = true
	p := &View{Theme: newTestTheme(), Frame: f, Have: true, History: history.New(time.Second)}
	p.Requested = frame.Load{Concurrency: 30, Rate: 2, InputTokens: 12288, OutputTokens: 256}
	want := []string{"rate 2.0 req/s ≤ 30", "in flight 30 4 retrying", "prompt 12288 → ~12290 tok", "output 256 → — tok",
		"prefix — hit —", "E2E 1.44 p95 1.46 s", "ok 0 failed 0 429 0", "Little 1.44 ▲ client-bound"}
	if got := loadLines(p); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	f.Load.Settled = false
	if got := loadLines(p)[7]; got != "Little — ▲ client-bound" {
		t.Errorf("before the load is steady: %q", got)
	}
	f.Client.E2E = measure.Summary{N: 100, P50: 682, P95: 685}
	if got := loadLines(p)[5]; got != "E2E 682 p95 685 ms" {
		t.Errorf("got %q", got)
	}
}

func TestLongPromptsAreNotPartOfTheLoad(t *testing.T) {
	f := slice(1, time.Second)
	f.Load.Max, f.Client.InFlight = 256, 258
	f.Streams = []measure.StreamCell{
		{Slot: 0, State: measure.StreamDecode}, {Slot: 256, State: measure.StreamWaiting, Long: true},
		{Slot: 257, State: measure.StreamDecode, Long: true}, {Slot: 258, State: measure.StreamIdle, Long: true},
	}
	p := &View{Theme: newTestTheme(), Frame: f, Have: true, History: history.New(time.Second), Requested: frame.Load{Concurrency: 256}}
	lines := loadLines(p)
	if lines[0] != "concurrency 256 cap reached" || lines[1] != "in flight 256 +2 long" {
		t.Errorf("got %q and %q", lines[0], lines[1])
	}
}

func TestFailuresAreListedByTheirWholeNames(t *testing.T) {
	f := slice(1, time.Second)
	f.Client.Failed = 3
	f.Client.ByClass = map[measure.Class]int{"connection_lost": 2, "connect": 1}
	p := &View{Theme: newTestTheme(), Frame: f, Have: true, History: history.New(time.Second)}
	text := ansi.Strip(strings.Join((&load{}).Zoomed(p, 118, 30), "\n"))
	for _, want := range []string{"connection_lost       2", "connect               1", "■ failed 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestUncountedTokensAreUnknownAndEstimatesMarked(t *testing.T) {
	c := &measure.Client{Window: 30 * time.Second}
	if got := rateText(c, inputPerS(c)); got != "0" {
		t.Errorf("without an answer the rate is %q, want 0", got)
	}
	c.TTFT.N = 5
	if got := rateText(c, inputPerS(c)); got != units.Unknown {
		t.Errorf("uncounted input is %q", got)
	}
	c.InTokensPerS, c.InputTokens, c.TokensEstimated = 1234, opt.Of(100), true
	if got := rateText(c, inputPerS(c)); got != "~1.23k" {
		t.Errorf("an estimate is %q", got)
	}
}

func TestAnEmptyChartSaysWhyInsteadOfAnAxis(t *testing.T) {
	f := slice(1, time.Second)
	f.Client.InFlight, f.Client.SliceTTFT = 1, []float64{100}
	f.Client.TTFT = measure.Summary{N: 1, P50: 100, P95: 100, P99: 100}
	p := &View{Theme: newTestTheme(), Frame: f, Have: true, History: history.New(time.Second)}
	p.History.Fold(f)
	tpot := newTPOT()
	if text := ansi.Strip(strings.Join(tpot.Body(p, 40, 8), "\n")); !strings.Contains(text, "waiting for the first response") || strings.Contains(text, "┤") {
		t.Errorf("before the first answer:\n%s", text)
	}
	f.Client.Failed = 7
	if text := ansi.Strip(strings.Join(tpot.Body(p, 40, 8), "\n")); !strings.Contains(text, "no request has succeeded") {
		t.Errorf("when all fail:\n%s", text)
	}
}

func TestTTFAIsShownWhereItDiffers(t *testing.T) {
	f := slice(1, time.Second)
	f.Client.TTFT = measure.Summary{N: 9, P50: 133, P95: 180}
	p := &View{Theme: newTestTheme(), Frame: f, Have: true, History: history.New(time.Second)}
	for _, c := range []struct {
		ttfa measure.Summary
		want bool
	}{
		{measure.Summary{}, false}, {f.Client.TTFT, false},
		{measure.Summary{N: 8, P50: 134, P95: 181}, false}, {measure.Summary{N: 8, P50: 900, P95: 990}, true},
		{measure.Summary{N: 9, P50: 133, P95: 1240}, true}, {measure.Summary{N: 9, P50: 150, P95: 180}, true},
	} {
		f.Client.TTFA = c.ttfa
		text := ansi.Strip(strings.Join(newTTFT().Zoomed(p, 118, 30), "\n"))
		if strings.Contains(text, "TTFA p50") != c.want {
			t.Errorf("TTFA %+v: shown is %v", c.ttfa, !c.want)
		}
		if c.want && !strings.Contains(text, " ms") {
			t.Error("TTFA has lost its unit")
		}
	}
}

// An exporter that measures every 10 s: the value of second 10 still counts in
// second 35, and no longer in second 41.
func TestASlowExportersValueIsHeld(t *testing.T) {
	for _, c := range []struct {
		at   time.Duration
		held bool
		note string
	}{{12 * time.Second, true, ""}, {35 * time.Second, true, ""}, {41 * time.Second, false, "31 s old"}} {
		f := slice(1, c.at)
		f.Target.Started = started
		f.GPU = gpu.Status{At: started.Add(10 * time.Second), Period: 10 * time.Second, GPUs: []gpu.Reading{{SM: opt.Of(0.5)}}}
		h := history.New(time.Second)
		h.Fold(f)
		if got := h.Last(1)[0].SM.Mean().OK; got != c.held {
			t.Errorf("after %v the line goes on: %v, want %v", c.at, got, c.held)
		}
		p := &View{Theme: newTestTheme(), Frame: f, Have: true, History: h}
		if foot := (gpuPanel{}).Heading(p).Foot; (len(foot) > 0) != (c.note != "") || c.note != "" && foot[0].Text != c.note {
			t.Errorf("after %v the foot is %v, want %q", c.at, foot, c.note)
		}
	}
}

// floored is a picture of a Frame with these figures.
func floored(r roofline.Bounds) *View {
	f := slice(1, time.Second)
	f.Roofline = r
	return &View{Theme: newTestTheme(), Frame: f, Have: true, History: history.New(time.Second)}
}

func TestFloorsAreInZoomAndExplanation(t *testing.T) {
	p := floored(roofline.Bounds{
		TPOTFloorMS: opt.Of(5.1), TTFTFloorMS: opt.Of(44.87), MBU: opt.Of(0.362), MFU: opt.Of(1.3), Assumes: "7B on X",
	})
	for _, c := range []struct {
		panel     Panel
		zoom, now []string
	}{
		{newTPOT(), []string{"floor 5.10 ms", "MBU 36 %"}, []string{"floor 5.10 ms: minimum", "MBU 36 %: memory", "assuming 7B on X"}},
		{newTTFT(), []string{"floor 44.9 ms", "MFU 130 %"}, []string{"floor 44.9 ms: minimum", "MFU 130 %: model", "assuming 7B on X"}},
	} {
		zoomed := ansi.Strip(strings.Join(c.panel.Zoomed(p, 100, 30), "\n"))
		for _, want := range c.zoom {
			if !strings.Contains(zoomed, want) {
				t.Errorf("zoomed lacks %q:\n%s", want, zoomed)
			}
		}
		now := strings.Join(c.panel.Explain(p).Now, "\n")
		for _, want := range c.now {
			if !strings.Contains(now, want) {
				t.Errorf("explained lacks %q:\n%s", want, now)
			}
		}
	}
}

func TestNoFloorHasItsReason(t *testing.T) {
	tpot := newTPOT()
	p := floored(roofline.Bounds{Why: "no GPU can be\x1b[31m seen"})
	if now := strings.Join(tpot.Explain(p).Now, "\n"); !strings.Contains(now, "floor —: no GPU can be") || strings.Contains(now, "\x1b") {
		t.Errorf("explained %q", now)
	}
	if zoomed := ansi.Strip(strings.Join(tpot.Zoomed(p, 100, 30), "\n")); strings.Contains(zoomed, "floor") || strings.Contains(zoomed, "MBU") {
		t.Errorf("zoomed shows a floor:\n%s", zoomed)
	}
}

func TestEveryFigureTellsWhereItComesFrom(t *testing.T) {
	at := started.Add(time.Minute)
	e := &engine.Status{Have: true, Reading: engine.Reading{At: at, KVFill: opt.Of(0.1), Origins: map[engine.Field]engine.Origin{
		engine.FieldRunning: {Source: "tgi_batch_current_size", At: at},
		engine.FieldKVFill:  {Source: "/slots n_prompt_tokens\x1b[2J", At: at.Add(-12 * time.Second), Remark: "of busy slots"},
		engine.FieldTTFT:    {Source: "not of this panel", At: at},
	}}}
	want := []string{"fill /slots n_prompt_tokens[2J (of busy slots), 12 s older", "run tgi_batch_current_size"}
	if got := origins(e); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := origins(&engine.Status{}); got != nil {
		t.Errorf("%q of nothing", got)
	}
}

// withEngine is a View of an engine that reports this and nothing else.
func withEngine(change func(*engine.Status)) *View {
	f := slice(1, time.Second)
	f.Engine = engine.Status{Have: true}
	change(&f.Engine)
	return &View{Theme: newTestTheme(), Frame: f, Have: true, History: history.New(time.Second)}
}

func TestKVPanelSaysWhyItIsEmpty(t *testing.T) {
	k := kv{}
	for _, c := range []struct {
		name       string
		p          *View
		has, hasNo string
	}{
		{"no reading", withEngine(func(e *engine.Status) { e.Have, e.Why = false, "start it with --metrics" }), "start it with --metrics", "wait"},
		{"neither queue nor cache", withEngine(func(e *engine.Status) {
			e.Reading.Notes = []string{"no metrics page", "tiny is\x1b[31m loaded"}
		}), "no metrics page; tiny is[31m loaded", "100%"},
		{"a queue and no cache", withEngine(func(e *engine.Status) {
			e.Reading.Running, e.Reading.Notes = opt.Of(2), []string{"tells nothing of the KV cache"}
		}), "tells nothing of the KV cache", "100%"},
		{"both", withEngine(func(e *engine.Status) {
			e.Reading.Running, e.Reading.KVFill, e.Reading.Notes = opt.Of(2), opt.Of(0.5), []string{"a remark"}
		}), "100%", "a remark"},
	} {
		body := strings.Join(k.Body(c.p, 60, 10), "\n")
		text := ansi.Strip(body)
		if !strings.Contains(text, c.has) || strings.Contains(text, c.hasNo) {
			t.Errorf("%s: want %q and not %q in\n%s", c.name, c.has, c.hasNo, text)
		}
		if strings.Contains(body, "\x1b[31m") {
			t.Errorf("%s: a server's text steers the terminal", c.name)
		}
		if lines := strings.Split(body, "\n"); len(lines) != 10 {
			t.Errorf("%s: %d lines, want 10", c.name, len(lines))
		}
	}
	stale := withEngine(func(e *engine.Status) { e.Reading.Notes = []string{"no metrics page"} })
	if h := k.Heading(stale); len(h.Figures) != 1 || h.Figures[0].Text != units.Unknown || len(h.Foot) > 0 {
		t.Errorf("heading of an engine that says nothing: %+v", h)
	}
}

// Of 100 requests in the last 30 s the engine took 40 ms each, and we 55 ms.
func TestWhatIsLeftOfOurTTFTIsThePath(t *testing.T) {
	p := &View{Theme: newTestTheme(), Frame: &frame.Frame{}, History: history.New(time.Second)}
	p.Frame.Client.Window = 30 * time.Second
	p.Frame.Client.TTFT = measure.Summary{N: 100, Mean: 55}
	text := func() (out []string) {
		for _, f := range pathNote(p) {
			out = append(out, f.Text)
		}
		return out
	}
	if got := text(); got != nil {
		t.Errorf("without the engine's word: %q", got)
	}
	for _, s := range []engine.Status{counted(0, 1000, 500), counted(20*time.Second, 2000, 900), counted(50*time.Second, 2100, 904)} {
		read(p.History, s)
	}
	if got := text(); len(got) != 2 || got[0] != "engine TTFT mean 40.0 ms" || got[1] != "network, gateway 15.0 ms" {
		t.Errorf("%q", got)
	}
	p.Frame.Client.TTFT.N = 70 // the engine serves others too
	if got := text(); len(got) != 1 {
		t.Errorf("with other clients: %q", got)
	}
	p.Frame.Client.TTFT = measure.Summary{N: 100, Mean: 39}
	if got := text(); len(got) != 1 {
		t.Errorf("faster than the engine: %q", got)
	}
	again := counted(51*time.Second, 1, 1)
	again.Reading.Restarted = true
	read(p.History, again)
	if text() != nil {
		t.Errorf("after a restart: %q", text())
	}
}

// A colour and a height stand for a length, whatever is usual; with SLOs for multiples of
// the shortest.
func TestGapSteps(t *testing.T) {
	usual, withSLO := &View{}, &View{SLOs: []slo.Target{
		{Metric: "tpot", LimitMS: 40}, {Metric: slo.Gap, LimitMS: 400}, {Metric: "ttft", LimitMS: 10},
	}}
	for gap, want := range map[float64][2]int{
		0: {0, 0}, 24.9: {0, 0}, 25: {1, 0}, 40: {1, 1}, 50: {2, 1}, 80: {2, 2}, 100: {3, 2}, 160: {3, 3}, 250: {4, 3}, 400: {4, 4}, 1e9: {4, 4},
	} {
		if got := [2]int{usual.gapStep(gap), withSLO.gapStep(gap)}; got != want {
			t.Errorf("a gap of %v ms has reached steps %v, want %v", gap, got, want)
		}
	}
	if got := withSLO.gapStepsText(); got != "40, 80, 160 and 400 ms (1, 2, 4 and 10 times the SLO)" {
		t.Error(got)
	}
}

func TestBridgeJoinsNearNeighboursOnly(t *testing.T) {
	nan := math.NaN()
	ys := []float64{10, nan, nan, 40, nan, nan, nan, nan, 80}
	bridge(ys, 3)
	for i, want := range []float64{10, 20, 30, 40, nan, nan, nan, nan, 80} {
		if got := ys[i]; !near(got, want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("dot %d is %v, want %v", i, got, want)
		}
	}
}

// GPUs of a fleet: the busiest first, with their machines; those of one replica only
// with whose they are, and all of them with that nobody can tell.
func TestGPUsOfAFleet(t *testing.T) {
	f := slice(1, time.Second)
	for i, sm := range []float64{0.3, 0.9, 0.6} {
		f.GPU.GPUs = append(f.GPU.GPUs, gpu.Reading{Name: "NVIDIA H100", Host: fmt.Sprintf("node-%d", i), SM: opt.Of(sm)})
	}
	p := &View{Theme: newTestTheme(), Frame: f, Have: true, History: history.New(time.Second)}
	lines := gpuPanel{}.Zoomed(p, 110, 20)
	for i, want := range []string{"90 %", "60 %", "30 %"} {
		host := fmt.Sprintf("node-%d  H100", []int{1, 2, 0}[i])
		if line := ansi.Strip(lines[1+i]); !strings.Contains(line, want) || !strings.Contains(line, host) {
			t.Errorf("row %d is %q, want %s of %s", i, line, want, host)
		}
	}
	if f.GPU.GPUs[0].Host != "node-0" {
		t.Error("the Frame was changed")
	}
	f.GPU.Scope = gpu.Scope{Kind: gpu.OfMachine, Replica: "r1"}
	if foot := (gpuPanel{}).Heading(p).Foot; len(foot) != 1 || foot[0].Text != f.GPU.Scope.String() {
		t.Errorf("foot %+v", foot)
	}
	f.GPU.Scope = gpu.Scope{Kind: gpu.AllWithoutLabels, Replica: "r1"}
	if text := ansi.Strip(strings.Join(Strip(p, 100, false), "\n")); !strings.Contains(text, "all GPUs") {
		t.Errorf("the strip does not say that they are all:\n%s", text)
	}
}

func TestZoomedGPUsSayWhyTheirReadingsAreOld(t *testing.T) {
	f := slice(1, time.Minute)
	f.GPU = gpu.Status{GPUs: []gpu.Reading{{Name: "NVIDIA H100", SM: opt.Of(0.5)}}, Why: "SSH to gpu1: connection lost"}
	p := &View{Theme: newTestTheme(), Frame: f, Have: true, History: history.New(time.Second)}
	if text := ansi.Strip(strings.Join(gpuPanel{}.Zoomed(p, 78, 20), "\n")); !strings.Contains(text, "no newer readings: SSH to gpu1: connection lost") {
		t.Errorf("no reason in\n%s", text)
	}
}

// Refusals of a server that loads are no failures; still they are why nothing is seen.
func TestRefusalsWhileTheModelLoads(t *testing.T) {
	p := &View{Theme: newTestTheme(), Frame: &frame.Frame{}, Have: true}
	p.Requested.Concurrency = 4
	p.Frame.Client.ByClass = map[measure.Class]int{"loading": 12}
	if got := whyNoSamples(p); !strings.Contains(got, "loads its model") {
		t.Error(got)
	}
	p.Frame.Client.OK = 1 // it answered since
	if got := whyNoSamples(p); strings.Contains(got, "loads its model") {
		t.Error(got)
	}
}

func TestLoadAxisIsLogarithmic(t *testing.T) {
	points := []level.Level{{Load: frame.Load{Concurrency: 1}}, {Load: frame.Load{Concurrency: 2}}, {Load: frame.Load{Concurrency: 4}}, {Load: frame.Load{Concurrency: 16}}}
	// 21 cells are 42 dots, of which the last is number 41: a doubling is 41/4 dots.
	if got := loadColumns(points, spanned(points), 21); got[0] != 0 || got[1] != 10 || got[2] != 21 || got[3] != 41 {
		t.Errorf("dots %v", got)
	}
	if got := loadColumns(points[:1], spanned(points[:1]), 21); got[0] != 21 {
		t.Errorf("a single level stands at dot %d", got[0])
	}
}

func stripped(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(ansi.Strip(l), " "))
	}
	return out
}

func TestTheVerdictBreaksBetweenWordsAndKeepsWholeEvidence(t *testing.T) {
	v := diagnose.Verdict{Severity: diagnose.Warn, Text: "the engine is overloaded", Evidence: []string{"9 requests wait", "TTFT 2 100 ms"}, Advice: "send less"}
	for _, c := range []struct {
		w, h int
		want string
	}{
		{80, 2, " ▲ the engine is overloaded: 9 requests wait, TTFT 2 100 ms|   → send less"},
		{50, 2, " ▲ the engine is overloaded: 9 requests wait|   → send less"},
		{50, 3, " ▲ the engine is overloaded: 9 requests wait, TTFT|   2 100 ms|   → send less"},
		{50, 1, " ▲ the engine is overloaded: 9 requests wait"},
		{20, 2, " ▲ the engine is …|   → send less"},
		{16, 1, " ▲ the engine …"},
	} {
		lines := VerdictLines(newTestTheme(), v, c.w, c.h)
		if got := strings.Join(stripped(lines), "|"); got != c.want {
			t.Errorf("%d×%d:\ngot  %q\nwant %q", c.w, c.h, got, c.want)
		}
	}
}

// How long refused streams wait is on the screen at every size.
func TestRefusedStreamsSayUntilWhen(t *testing.T) {
	f := slice(1, time.Minute)
	f.Client.Retrying, f.Client.RetryAt = 2, f.At+3*time.Hour
	v := &View{Theme: newTestTheme(), Frame: f, Requested: frame.Load{Concurrency: 2, InputTokens: 256, OutputTokens: 128}, History: history.New(time.Second)}
	if line := ansi.Strip(Strip(v, 80, false)[0]); !strings.Contains(line, "in flight   0 (2 retrying in 3 h)") {
		t.Errorf("80 columns: %q", line)
	}
	if lines := ansi.Strip(strings.Join((&load{}).lines(v, loadCells), "\n")); !strings.Contains(lines, "2 retry in 3 h") {
		t.Errorf("the panel: %s", lines)
	}
	f.Client.RetryAt = f.At + 2*time.Second
	if line := ansi.Strip(Strip(v, 80, false)[0]); !strings.Contains(line, "(2 retrying)") {
		t.Errorf("a short wait: %q", line)
	}
}
