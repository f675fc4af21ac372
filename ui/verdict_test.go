package ui

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/diagnose"
)

func stripped(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(ansi.Strip(l), " "))
	}
	return out
}

func TestTheVerdictBreaksBetweenWordsAndKeepsWholeEvidence(t *testing.T) {
	th := newTestTheme()
	v := diagnose.Verdict{Severity: diagnose.Warn, Text: "the engine is overloaded", Evidence: []string{"9 requests wait", "TTFT 2 100 ms"}, Advice: "send less"}
	for _, c := range []struct {
		w, h   int
		notice string
		want   string
	}{
		{80, 2, "", " ▲ the engine is overloaded: 9 requests wait, TTFT 2 100 ms|   → send less"},
		{50, 2, "", " ▲ the engine is overloaded: 9 requests wait, TTFT|   2 100 ms"},
		{50, 1, "", " ▲ the engine is overloaded: 9 requests wait"},
		{50, 2, "saved", " ▲ the engine is overloaded: 9 requests wait| › saved"},
		{50, 1, "saved", " ▲ the engine is overloaded: 9 requests wait"},
		{20, 2, "", " ▲ the engine is|   overloaded"},
		{16, 1, "", " ▲ the engine …"},
	} {
		lines := th.verdictLines(v, notice{text: c.notice}, c.w, c.h)
		if got := strings.Join(stripped(lines), "|"); got != c.want {
			t.Errorf("%d×%d, notice %q:\ngot  %q\nwant %q", c.w, c.h, c.notice, got, c.want)
		}
	}
}

func TestAllVerdictsCanBeRead(t *testing.T) {
	m := at(newFake(2).play(time.Second), 60, 16)
	pressAll(m, "v")
	text := scrolledText(m)
	v := (&fakeJudge{}).Verdicts()[0]
	for _, want := range append(v.Evidence, v.Text, v.Advice, "not so: overload, kv full", "slow start") {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}

// On the smallest screen a notice takes the place of the keys.
func TestANoticeNeverHidesTheVerdict(t *testing.T) {
	m := at(newFake(2).play(time.Second), 60, 16)
	press(m, "l")
	text := ansi.Strip(m.View().Content)
	if !strings.Contains(text, "decode is bound") || !strings.Contains(text, "long prompt is on its way") {
		t.Errorf("verdict or notice is missing:\n%s", text)
	}
}

func TestALoadKeyShowsItsEffectWhatever(t *testing.T) {
	for _, before := range []string{"2z", " ", "2z ", "i"} {
		m := at(newFake(4).play(time.Second), 120, 40)
		pressAll(m, before)
		press(m, "+")
		if text := ansi.Strip(m.View().Content); !strings.Contains(text, "load now: concurrency 5, prompt 1 024, output 256 tok") {
			t.Errorf("after %q and + nothing says what the load is", before)
		}
	}
	s := newFake(256).play(time.Second)
	m := at(s, 120, 40)
	press(m, "+")
	if text := ansi.Strip(m.View().Content); !strings.Contains(text, "cap 256 reached") {
		t.Error("no notice of the cap")
	}
	s.load.Concurrency = 256 // as a session caps it
	m.draw()
	if text := ansi.Strip(m.View().Content); !strings.Contains(text, "cap reached") {
		t.Error("nothing says that the cap is reached")
	}
}

// luminance is that of WCAG for a colour of the 256-colour palette.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(color, &n); err != nil || n < 16 {
		t.Fatalf("%q is not of the upper palette", color)
	}
	levels := [6]int{0, 95, 135, 175, 215, 255}
	rgb := [3]int{8 + 10*(n-232), 8 + 10*(n-232), 8 + 10*(n-232)}
	if n < 232 {
		rgb = [3]int{levels[(n-16)/36], levels[(n-16)/6%6], levels[(n-16)%6]}
	}
	return 0.2126*linear(rgb[0]) + 0.7152*linear(rgb[1]) + 0.0722*linear(rgb[2])
}

func TestColoursCanBeReadOnBlackAndOnWhite(t *testing.T) {
	p := palette256
	for color, least := range map[string]float64{
		p.grey: 4.5, p.frame: 4.5, p.blue: 4.5, p.purple: 4.5, p.green: 4.5,
		p.orange: 3, p.yellow: 3, p.red: 3, p.shades[0]: 3, p.shades[1]: 3,
	} {
		l := luminance(t, color)
		if white, black := 1.05/(l+0.05), (l+0.05)/0.05; white < least || black < least {
			t.Errorf("colour %s has a contrast of %.2f on white and %.2f on black, want %v", color, white, black, least)
		}
	}
	th := newTheme(colorprofile.ANSI256, false)
	if !th.p95.GetBold() || !th.warn.GetBold() || !th.bad.GetBold() {
		t.Error("a colour below 4.5 is not bold")
	}
}

func TestWithoutColourFaintMeansOnlyWeak(t *testing.T) {
	th := newTheme(colorprofile.ASCII, false)
	if th.p50.GetFaint() || th.p95.GetFaint() || th.p99.GetFaint() || !th.dim.GetFaint() {
		t.Error("a percentile looks like one of too few samples")
	}
}

func linear(v int) float64 {
	c := float64(v) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}
