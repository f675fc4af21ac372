package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

func TestAllVerdictsCanBeRead(t *testing.T) {
	m := at(newFake(2).play(time.Second), 60, 16)
	pressAll(m, "v")
	text := scrolledText(m)
	v := (&fakeJudge{}).Verdicts()[0]
	for _, want := range append(v.Evidence, v.Text, v.Advice, "Ruled out: overload, KV full", "slow start") {
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
	if !strings.Contains(text, "decode is bound") || !strings.Contains(text, "long prompt sent") {
		t.Errorf("verdict or notice is missing:\n%s", text)
	}
}

func TestALoadKeyShowsItsEffectWhatever(t *testing.T) {
	for _, before := range []string{"2z", " ", "2z ", "i"} {
		m := at(newFake(4).play(time.Second), 120, 40)
		pressAll(m, before)
		press(m, "+")
		if text := ansi.Strip(m.View().Content); !strings.Contains(text, "load now: concurrency 5, prompt 1024, output 256 tok") {
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
