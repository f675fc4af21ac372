package ui

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
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
		for _, want := range []string{"est.  p50 62.5  p95 175", "engine metrics", "no load: press"} {
			if !strings.Contains(text, want) {
				t.Errorf("%v: no %q in\n%s", size, want, text)
			}
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

// While we only watch, the rates are the engine's: 400 and 0 tokens/s in turn read
// 200 in the mean of ten seconds; it does not report what it writes.
func TestWatchingShowsTheEnginesRates(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		m := at(newFake(0).play(2*time.Second), size[0], size[1])
		for i := range 20 {
			f := slice(1, time.Duration(3+i)*time.Second)
			f.Engine = said(time.Hour+time.Duration(i)*time.Second, float64(400*(i%2)))
			m.live.History.Fold(f)
		}
		for range turns {
			m.Update(tickMsg{m.generation})
		}
		text := strings.Join(strings.Fields(ansi.Strip(m.View().Content)), " ")
		if !strings.Contains(text, "in 200") || !strings.Contains(text, "engine metrics") {
			t.Errorf("%v:\n%s", size, screenOf(m))
		}
	}
}

// n is in the titles of TTFT and TPOT at 120×40, also with four digits and a sign
// for the service level.
func TestTheNumberOfSamplesStaysInTheTitles(t *testing.T) {
	s := newFake(4).play(3 * time.Second)
	f := *s.Since(0)[len(s.Since(0))-1]
	f.Client.TTFT = measure.Summary{N: 1234, P50: 1210, P95: 2840, P99: 4100}
	f.Client.TPOT = measure.Summary{N: 1234, P50: 14.6, P95: 15.1, P99: 112}
	o := Options{Frames: &playback{frames: []*frame.Frame{&f}}, SLOs: []slo.Target{{Text: "ttft_p95=2000ms", Metric: "ttft", Quantile: 0.95, LimitMS: 2000}, {Text: "tpot_p95=40ms", Metric: "tpot", Quantile: 0.95, LimitMS: 40}}}
	m := newModel(o, newTestTheme())
	m.pull(time.Now())
	m.resize(120, 40)
	m.draw()
	title := strings.Split(ansi.Strip(m.content), "\n")[1]
	for _, want := range []string{"■  p50 1 210  p95 2 840  n", "● p50 14.6 p95 15.1"} {
		if !strings.Contains(title, want) {
			t.Errorf("no %q in %q", want, title)
		}
	}
	if strings.Count(title, "n 1 234") != 2 {
		t.Errorf("the samples are not counted twice in %q", title)
	}
}
