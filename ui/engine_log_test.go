package ui

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// said is what an engine says after some seconds; histograms have buckets of
// 0.1, 0.2 and infinity seconds.
func said(after time.Duration, inRate float64, counts ...float64) engine.Status {
	s := engine.Status{Have: true, Reading: engine.Reading{At: fakeStart.Add(after), PromptTokensPerS: opt.Of(inRate)}}
	if len(counts) == 3 {
		s.Reading.TTFT = engine.Histogram{Bounds: []float64{0.1, 0.2, math.Inf(1)}, Counts: counts, Count: counts[2]}
	}
	return s
}

func TestAnEngineRateIsAMeanOfTenSeconds(t *testing.T) {
	var l engineLog
	for i := range 30 { // 900 in every third second, 0 between
		rate := 0.0
		if i%3 == 0 {
			rate = 900
		}
		l = l.fold(said(time.Duration(i)*time.Second, rate))
		l = l.fold(said(time.Duration(i)*time.Second, rate)) // the next Frame has the same reading
	}
	// Of the seconds 20 to 29, 21, 24 and 27 have 900: 2 700 / 10.
	if got := l.meanOf(promptRate); !got.OK || !near(got.V, 270) {
		t.Errorf("mean %v, want 270", got)
	}
	if got := (engineLog{}).meanOf(promptRate); got.OK {
		t.Errorf("without readings the mean is %v", got)
	}
}

func TestTheEngineLogKeepsAMinute(t *testing.T) {
	var l engineLog
	for i := range 200 {
		l = l.fold(said(time.Duration(i)*time.Second, 0))
	}
	if len(l) != 61 || !l[0].Reading.At.Equal(fakeStart.Add(139*time.Second)) {
		t.Errorf("%d readings from %v on", len(l), l[0].Reading.At)
	}
}

// Between the readings 80 requests took up to 0.1 s and 20 up to 0.2 s: the median
// is the 50th of 80 in the first bucket, 62.5 ms, the 95th the 15th of 20 in the
// second, 175 ms.
func TestTheEnginesOwnLatenciesAreDifferences(t *testing.T) {
	var l engineLog
	l = l.fold(said(0, 0, 1000, 2000, 3000))
	if got := l.over(ttftGrowth); got.n != 0 {
		t.Errorf("one reading gives %+v", got)
	}
	l = l.fold(said(5*time.Second, 0, 1080, 2100, 3100))
	if got, want := l.over(ttftGrowth), (estimate{p50: bound{ms: 62.5}, p95: bound{ms: 175}, n: 100}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	l = l.fold(said(10*time.Second, 0, 1080, 2100, 4100)) // 1 000 more, all beyond 0.2 s
	if got := l.over(ttftGrowth); got.p95 != (bound{ms: 200, beyond: true}) || got.p95.in(milliseconds) != ">200" {
		t.Errorf("beyond the last bound: %+v", got)
	}
	again := said(15*time.Second, 0, 1, 1, 1)
	again.Reading.Restarted = true
	if l = l.fold(again); l.over(ttftGrowth).n != 0 {
		t.Errorf("a restart gives %+v", l.over(ttftGrowth))
	}
}

func watchedFrames() []*frame.Frame {
	a, b := slice(1, time.Second), slice(2, 6*time.Second)
	a.Engine, b.Engine = said(time.Second, 0, 0, 0, 0), said(6*time.Second, 0, 80, 100, 100)
	return []*frame.Frame{a, b}
}

func TestWithoutLoadTheEnginesOwnFiguresAreShown(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}} {
		m := newModel(Options{Frames: &playback{frames: watchedFrames()}}, newTestTheme())
		m.pull(time.Now())
		m.pull(time.Now())
		m.resize(size[0], size[1])
		m.draw()
		text := ansi.Strip(m.content)
		for _, want := range []string{"est.  p50 62.5  p95 175", "the engine's own", "no load: ↑ sends"} {
			if !strings.Contains(text, want) {
				t.Errorf("%v: no %q in\n%s", size, want, text)
			}
		}
	}
}

func TestAnEmptyChartSaysWhyInsteadOfAnAxis(t *testing.T) {
	f := slice(1, time.Second)
	f.Client.InFlight, f.Client.SliceTTFT = 1, []float64{100}
	f.Client.TTFT = measure.Summary{N: 1, P50: 100, P95: 100, P99: 100}
	p := &picture{frame: f, have: true, history: newHistory(time.Second)}
	p.history.fold(f)
	tpot := newTPOTPanel(newTestTheme())
	if text := ansi.Strip(strings.Join(tpot.body(p, 40, 8), "\n")); !strings.Contains(text, "waiting for the first answer") || strings.Contains(text, "┤") {
		t.Errorf("before the first answer:\n%s", text)
	}
	f.Client.Failed = 7
	if text := ansi.Strip(strings.Join(tpot.body(p, 40, 8), "\n")); !strings.Contains(text, "no request has succeeded") {
		t.Errorf("when all fail:\n%s", text)
	}
}

func TestTTFAIsShownWhereItDiffers(t *testing.T) {
	th := newTestTheme()
	f := slice(1, time.Second)
	f.Client.TTFT = measure.Summary{N: 9, P50: 133, P95: 180}
	p := &picture{frame: f, have: true, history: newHistory(time.Second)}
	for _, c := range []struct {
		ttfa measure.Summary
		want bool
	}{
		{measure.Summary{}, false}, {f.Client.TTFT, false},
		{measure.Summary{N: 8, P50: 134, P95: 181}, false}, {measure.Summary{N: 8, P50: 900, P95: 990}, true},
		{measure.Summary{N: 9, P50: 133, P95: 1240}, true}, {measure.Summary{N: 9, P50: 150, P95: 180}, true},
	} {
		f.Client.TTFA = c.ttfa
		text := ansi.Strip(strings.Join(newTTFTPanel(th).zoomed(p, 118, 30), "\n"))
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
	th := newTestTheme()
	for _, c := range []struct {
		at   time.Duration
		held bool
		note string
	}{{12 * time.Second, true, ""}, {35 * time.Second, true, ""}, {41 * time.Second, false, "31 s old"}} {
		f := slice(1, c.at)
		f.Target.Started = fakeStart
		f.GPU = gpu.Status{At: fakeStart.Add(10 * time.Second), Period: 10 * time.Second, GPUs: []gpu.Reading{{SM: opt.Of(0.5)}}}
		h := newHistory(time.Second)
		h.fold(f)
		if got := !math.IsNaN(sm(h.open())); got != c.held {
			t.Errorf("after %v the line goes on: %v, want %v", c.at, got, c.held)
		}
		p := &picture{frame: f, have: true, history: h}
		if foot := (&gpuPanel{theme: th}).heading(p).foot; (len(foot) > 0) != (c.note != "") || c.note != "" && foot[0].text != c.note {
			t.Errorf("after %v the foot is %v, want %q", c.at, foot, c.note)
		}
	}
}

func TestSeveralGPUsShowTheBusiestAndTheirPower(t *testing.T) {
	s := newFake(2)
	s.gpus = 8
	m := newModel(Options{Frames: s}, newTestTheme())
	s.play(time.Second)
	f := s.frames[len(s.frames)-1]
	for i := range f.GPU.GPUs { // 7 × 0.38 and 0.94 make a mean of 0.45
		f.GPU.GPUs[i].SM, f.GPU.GPUs[i].DRAM, f.GPU.GPUs[i].Power = opt.Of(0.38), opt.Of(0.74), opt.Of(600)
	}
	f.GPU.GPUs[3].SM = opt.Of(0.94)
	m.pull(time.Now())
	m.resize(120, 40)
	m.draw()
	if text := ansi.Strip(m.content); !strings.Contains(text, "SM 45 % max 94 % DRAM 74 % 4 800 W") {
		t.Errorf("the title of the GPU panel:\n%s", text)
	}
}

// 200 columns of a second: three labels beyond two minutes, all different.
func TestTheTimeAxisTellsHalfMinutes(t *testing.T) {
	axis := string(timeAxis(198, 198, time.Second))
	for _, want := range []string{"┴3 min", "┴2.5 min", "┴2 min", "┴90 s", "┴60 s", "┴30 s"} {
		if strings.Count(axis, want) != 1 {
			t.Errorf("%q is not once in %q", want, axis)
		}
	}
}

// In 50 columns the tick of 30 s stands in column 17 of the line and its label in 18
// to 21. A foot of 22 cells, with its blanks, begins in column 23, one of 24 in 21.
func TestATimeUnderTheFootIsLeftOut(t *testing.T) {
	th := newTestTheme()
	for foot, want := range map[string]string{
		"▲ oldest waiting 8.3 s":   "┴30 s─ ▲ oldest waiting 8.3 s ─╯",
		"▲ oldest waiting 12.5 s ": "┴─── ▲ oldest waiting 12.5 s  ─╯",
	} {
		hd := heading{name: "x", column: time.Second, foot: []figure{{text: foot}}}
		if line := ansi.Strip(th.bottom(hd, 50, th.border)); !strings.HasSuffix(line, want) {
			t.Errorf("got %q, want %q at its end", line, want)
		}
	}
}

// On 58 cells the clock and the name of a GPU go as a whole.
func TestARowOfAGPULosesWholeColumns(t *testing.T) {
	cells := []string{"0", "90 %", "74 %", "612 / 700", "70.0 / 80.0", "61", "1 980"}
	for w, want := range map[int]string{
		80: "   0   90 %   74 %   612 / 700     70.0 / 80.0   61  1 980  H100 80GB",
		57: "   0   90 %   74 %   612 / 700     70.0 / 80.0   61",
		50: "   0   90 %   74 %   612 / 700     70.0 / 80.0",
	} {
		if got := tableRow(w, gpuTable, "H100 80GB", cells); got != want {
			t.Errorf("%d cells:\ngot  %q\nwant %q", w, got, want)
		}
	}
}

// Prompts come every other second, 1,000 tokens each, of which 250 hit: 25 %, also
// right after a reading in which nobody asked, and long after the last one.
func TestPrefixHitsAreAMeanOfTenSeconds(t *testing.T) {
	var l engineLog
	asked := 0.0
	for i := range 40 {
		s := said(time.Duration(i)*time.Second, 0)
		if i%2 == 0 && i < 20 {
			asked += 1000
			s.Reading.PrefixHitRate = opt.Of(0.25)
		}
		s.Reading.PrefixQueries, s.Reading.PrefixHits = opt.Of(asked), opt.Of(asked/4)
		l = l.fold(s)
		if got := l.prefixHits(); i >= 2 && (!got.OK || !near(got.V, 0.25)) {
			t.Errorf("after %d s: %v", i, got)
		}
	}
	restarted := said(40*time.Second, 0)
	restarted.Reading.Restarted, restarted.Reading.PrefixQueries, restarted.Reading.PrefixHits = true, opt.Of(0.), opt.Of(0.)
	if got := l.fold(restarted).prefixHits(); got.OK {
		t.Errorf("over a restart: %v", got)
	}
	gauge := said(0, 0)
	gauge.Reading.PrefixHitRate = opt.Of(0.5)
	if got := (engineLog{gauge}).prefixHits(); !got.OK || !near(got.V, 0.5) {
		t.Errorf("an engine with a gauge: %v", got)
	}
}

// While we only watch, the rates are the engine's: 400 and 0 tokens/s in turn read
// 200 in the mean of ten seconds; what it writes it does not tell.
func TestWatchingShowsTheEnginesRates(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		m := at(newFake(0).play(2*time.Second), size[0], size[1])
		for i := range 20 {
			m.live.history.engine = m.live.history.engine.fold(said(time.Hour+time.Duration(i)*time.Second, float64(400*(i%2))))
		}
		for range turns {
			m.Update(tickMsg{m.generation})
		}
		text := strings.Join(strings.Fields(ansi.Strip(m.View().Content)), " ")
		if !strings.Contains(text, "in 200") || !strings.Contains(text, "the engine") {
			t.Errorf("%v:\n%s", size, screenOf(m))
		}
	}
}
