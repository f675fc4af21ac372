package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

func plainFigures(texts ...string) []figure {
	var fs []figure
	for _, s := range texts {
		fs = append(fs, figure{text: s})
	}
	return fs
}

func TestFiguresAreWholeOrNotThere(t *testing.T) {
	all := plainFigures("p50 220", "p95 464", "p99 602", "n 137") // 7+7+7+5 = 26 and 6 or 3 blanks
	for _, c := range []struct {
		w    int
		want string
	}{
		{32, "p50 220  p95 464  p99 602  n 137"},
		{31, "p50 220 p95 464 p99 602 n 137"},
		{29, "p50 220 p95 464 p99 602 n 137"},
		{28, "p50 220  p95 464  n 137"},
		{22, "p50 220 p95 464 n 137"},
		{20, "p50 220  p95 464"},
		{10, "p50 220"}, {6, ""}, {0, ""},
	} {
		kept, blanks := fit(all, 2, c.w)
		if got := join(kept, blanks); got != c.want {
			t.Errorf("%d cells hold %q, want %q", c.w, got, c.want)
		}
	}
}

// loadLines are the lines of the load panel at 120×40, which have 27 cells.
func loadLines(p *picture) []string {
	l := &loadPanel{theme: newTestTheme()}
	var lines []string
	for _, s := range l.lines(p, loadWidth-3) {
		lines = append(lines, strings.Join(strings.Fields(ansi.Strip(s)), " "))
		if ansi.StringWidth(s) > loadWidth-3 {
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
	f.Client.Little = opt.Of(1.44)
	f.Client.InputTokens, f.Client.TokensEstimated = opt.Of(12290), true
	f.Health.Bottleneck = true
	p := &picture{frame: f, have: true, history: newHistory(time.Second)}
	p.wish = frame.Load{Concurrency: 30, Rate: 2, InputTokens: 12288, OutputTokens: 256}
	want := []string{"rate 2.0 req/s ≤ 30", "in flight 30 4 retrying", "prompt 12 288 → ~12 290 tok", "output 256 → — tok",
		"prefix — hit —", "E2E 1.44 p95 1.46 s", "ok 0 failed 0 429 0", "Little 1.44 ▲ client limits"}
	if got := loadLines(p); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
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
	p := &picture{frame: f, have: true, history: newHistory(time.Second), wish: frame.Load{Concurrency: 256}}
	lines := loadLines(p)
	if lines[0] != "concurrency 256 cap reached" || lines[1] != "in flight 256 +2 long" {
		t.Errorf("got %q and %q", lines[0], lines[1])
	}
}

func TestFailuresAreListedByTheirWholeNames(t *testing.T) {
	f := slice(1, time.Second)
	f.Client.Failed = 3
	f.Client.ByClass = map[measure.Class]int{"connection_lost": 2, "connect": 1}
	p := &picture{frame: f, have: true, history: newHistory(time.Second)}
	text := ansi.Strip(strings.Join((&loadPanel{theme: newTestTheme()}).zoomed(p, 118, 30), "\n"))
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
	if got := rateText(c, inputPerS(c)); got != unknown {
		t.Errorf("uncounted input is %q", got)
	}
	c.InTokensPerS, c.InputTokens, c.TokensEstimated = 1234, opt.Of(100), true
	if got := rateText(c, inputPerS(c)); got != "~1 234" {
		t.Errorf("an estimate is %q", got)
	}
}

// n is in the titles of TTFT and TPOT at 120×40, also with four digits and a sign
// for the service level.
func TestTheNumberOfSamplesStaysInTheTitles(t *testing.T) {
	s := newFake(4).play(3 * time.Second)
	f := *s.Since(0)[len(s.Since(0))-1]
	f.Client.TTFT = measure.Summary{N: 1234, P50: 1210, P95: 2840, P99: 4100}
	f.Client.TPOT = measure.Summary{N: 1234, P50: 14.6, P95: 15.1, P99: 112}
	o := Options{Frames: &playback{frames: []*frame.Frame{&f}}, SLOs: []SLOLine{{"ttft_p95", 2000}, {"tpot_p95", 40}}}
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
