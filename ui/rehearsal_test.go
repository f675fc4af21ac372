package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/frame"
)

// fakeRehearsal has twelve faults and chunked prefill, which is on.
type fakeRehearsal struct {
	all []frame.Switch
	err error
}

func newRehearsal() *fakeRehearsal {
	r := &fakeRehearsal{all: []frame.Switch{{Group: "scheduling", Name: "chunked prefill", Description: "prompts go in by pieces", Value: "on"}}}
	for _, name := range strings.Fields("429 503 error cut stall clump slow throttle kv loading more last") {
		r.all = append(r.all, frame.Switch{Group: "faults", Name: name, Description: "something goes wrong"})
	}
	return r
}

func (r *fakeRehearsal) Switches() []frame.Switch { return r.all }

func (r *fakeRehearsal) Flip(name string) error {
	for i := range r.all {
		if s := &r.all[i]; s.Name == name && r.err == nil {
			if s.On() {
				s.Value = ""
			} else {
				s.Value = "0.3"
			}
		}
	}
	return r.err
}

func rehearsing(w, h int) (*model, *fakeRehearsal) {
	m, r := at(newFake(4).play(3*time.Second), w, h), newRehearsal()
	m.Rehearsal = r
	press(m, "d")
	return m, r
}

func TestSwitchesAreFlippedByKey(t *testing.T) {
	m, r := rehearsing(80, 24)
	press(m, "enter")
	if r.all[0].On() || !strings.Contains(screenOf(m), "chunked prefill is off") {
		t.Errorf("chunked prefill stays on:\n%s", screenOf(m))
	}
	for range 40 { // more often than there are switches
		press(m, "down")
	}
	m.Update(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
	text := screenOf(m)
	if !r.all[12].On() || !strings.Contains(text, "› ● last") || !strings.Contains(text, "last is on: something goes wrong") {
		t.Errorf("the last one is not on, or cannot be seen:\n%s", text)
	}
	if m.paused || m.Controls.Load().Concurrency != 4 {
		t.Error("the keys did something else as well")
	}
	for range 40 {
		press(m, "up")
	}
	if text = screenOf(m); !strings.Contains(text, "› ○ chunked prefill") || !strings.Contains(text, "scheduling") {
		t.Errorf("the first one cannot be seen:\n%s", text)
	}
	r.err = errors.New("it is stuck")
	if press(m, "enter"); !strings.Contains(screenOf(m), "chunked prefill: it is stuck") {
		t.Errorf("the refusal is not told:\n%s", screenOf(m))
	}
}

func TestRehearsalFillsEverySize(t *testing.T) {
	for _, keys := range []string{"d", "?"} {
		m, _ := rehearsing(80, 24)
		press(m, "esc")
		press(m, keys)
		for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {250, 70}} {
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			if err := checkSize(m.View().Content, size[0], size[1]); err != nil {
				t.Errorf("%s at %v: %v", keys, size, err)
			}
		}
	}
}

func TestTourIsToldOnlyWhereThereIsAnEngineOfOurs(t *testing.T) {
	m, _ := rehearsing(120, 40)
	press(m, "?")
	text := screenOf(m)
	for _, s := range tour {
		if !strings.Contains(text, s.see) || !strings.Contains(text, s.press) {
			t.Errorf("the help says nothing of %s:\n%s", s.see, text)
		}
	}
	m.Rehearsal = nil
	m.draw()
	if strings.Contains(screenOf(m), "prefill interference") {
		t.Error("the tour is told of any server")
	}
	press(m, "d")
	if text := screenOf(m); !strings.Contains(text, "only the embedded engine") {
		t.Errorf("no word why nothing opens:\n%s", text)
	}
}
