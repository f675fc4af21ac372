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
		now := *m.live.Frame // a new Frame: the panels draw again
		m.live.Frame = &now
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
	for _, want := range []string{"■  p50 1.21  p95 2.84  n", "● p50 14.6 p95 15.1"} {
		if !strings.Contains(title, want) {
			t.Errorf("no %q in %q", want, title)
		}
	}
	if strings.Count(title, "n 1.23k") != 2 {
		t.Errorf("the samples are not counted twice in %q", title)
	}
}
