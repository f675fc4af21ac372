package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// threeReplicas differ in which is the fullest and which has the busiest GPUs.
func threeReplicas() *fakeSource {
	s := newFake(2)
	s.replicas = []engine.Replica{
		{Name: "vllm-7d-a1", KVFill: opt.Of(0.2), SM: opt.Of(0.8), Running: opt.Of(1), GenerationTokensPerS: opt.Of(1234)},
		{Name: "vllm-7d-b2", KVFill: opt.Of(0.93), SM: opt.Of(0.1), Running: opt.Of(7), Waiting: opt.Of(4)},
		{Name: "vllm-7d-c3", KVFill: opt.Of(0.5), SM: opt.Of(0.3)},
	}
	return s.play(2 * time.Second)
}

// goOn lets Frames with the newest commands reach the screen.
func goOn(m *model, s *fakeSource) string {
	s.play(turns * fakeSlice)
	for range turns {
		m.Update(tickMsg{m.generation})
	}
	return ansi.Strip(m.View().Content)
}

func TestTheTourThroughAFleet(t *testing.T) {
	for _, c := range []struct {
		panel string
		want  []string
	}{
		{"7", []string{"replica vllm-7d-b2", "replica vllm-7d-c3", "replica vllm-7d-a1", "replica ", "replica vllm-7d-b2"}},
		{"6", []string{"replica vllm-7d-a1", "replica vllm-7d-c3", "replica vllm-7d-b2", "replica ", "replica vllm-7d-a1"}},
	} {
		s := threeReplicas()
		m := at(s, 120, 40)
		pressAll(m, c.panel+"nnnnn")
		if !slices.Equal(s.calls, c.want) {
			t.Errorf("from panel %s: %q, want %q", c.panel, s.calls, c.want)
		}
	}
}

// The order is that of its beginning, though fills change meanwhile; who has gone is
// passed over.
func TestTheTourKeepsItsOrder(t *testing.T) {
	s := threeReplicas()
	m := at(s, 120, 40)
	pressAll(m, "n")
	s.replicas = slices.Clone(s.replicas)
	s.replicas[0].KVFill, s.replicas[1].KVFill = opt.Of(0.99), opt.Of(0.01)
	goOn(m, s)
	pressAll(m, "n")
	s.replicas = s.replicas[1:]
	goOn(m, s)
	pressAll(m, "n")
	if want := []string{"replica vllm-7d-b2", "replica vllm-7d-c3", "replica "}; !slices.Equal(s.calls, want) {
		t.Errorf("%q, want %q", s.calls, want)
	}
}

func TestTheScreenSaysWhoseFiguresTheyAre(t *testing.T) {
	s := threeReplicas()
	for _, size := range []struct {
		w, h     int
		all, one string
	}{{120, 40, "KV ×3", "KV vllm-7d-b2"}, {200, 50, "KV cache all of 3", "KV cache vllm-7d-b2"}, {80, 24, "KV ×3", "KV vllm-7d-b2"}} {
		s.replica = ""
		m := at(s, size.w, size.h)
		if text := goOn(m, s); !strings.Contains(text, size.all) || strings.Contains(text, " › …") {
			t.Errorf("%d×%d: %q is missing, or one is named in the title", size.w, size.h, size.all)
		}
		pressAll(m, "n")
		if text := goOn(m, s); !strings.Contains(text, size.one) || !strings.Contains(strings.Split(text, "\n")[0], " › vllm-7d-b2") {
			t.Errorf("%d×%d: the replica is not named:\n%s", size.w, size.h, text)
		}
	}
}

// Of sixteen there is room for some; the one that is looked at is always there.
func TestTheTopOfALargeFleet(t *testing.T) {
	s := newFake(2)
	for i := range 16 { // r0 is the fullest
		s.replicas = append(s.replicas, engine.Replica{Name: fmt.Sprintf("r%d", i), KVFill: opt.Of(1 - float64(i)/20)})
	}
	s.play(2 * time.Second)
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {250, 70}} {
		s.replica = ""
		m := at(s, size[0], size[1])
		pressAll(m, "7z")
		text := goOn(m, s)
		if size[1] >= 24 && (!strings.Contains(text, "  r0 ") || !strings.Contains(text, "  r1 ")) {
			t.Errorf("%v: the fullest are missing:\n%s", size, text)
		}
		if all := strings.Contains(text, "  r15 "); size[1] >= 40 != all || size[1] == 24 && !strings.Contains(text, "less full") {
			t.Errorf("%v: all %t, or how many are omitted is not shown:\n%s", size, all, text)
		}
		pressAll(m, strings.Repeat("n", 16))
		if text = goOn(m, s); size[1] >= 24 && !strings.Contains(text, "  r15 ") {
			t.Errorf("%v: the chosen one is not listed:\n%s", size, text)
		}
		if err := checkSize(m.View().Content, size[0], size[1]); err != nil {
			t.Errorf("%v: %v", size, err)
		}
	}
}

func TestModelsAreSwitchedByKey(t *testing.T) {
	s := threeReplicas()
	s.onPage, s.model = []string{"org/A", "org/B", "org/C"}, "org/B"
	s.play(time.Second)
	m := at(s, 200, 50)
	pressAll(m, "mnm")
	goOn(m, s)
	pressAll(m, "m")
	want := []string{"model org/C", "replica vllm-7d-b2", "replica ", "model org/A", "model org/B"}
	if !slices.Equal(s.calls, want) {
		t.Errorf("%q, want %q", s.calls, want)
	}
	if text := goOn(m, s); !strings.Contains(text, "KV cache B · all of 3") || !strings.Contains(text, "Llama-3.1-8B-Instruct") {
		t.Errorf("the model that is read, and the one that requests name:\n%s", text)
	}
}

func TestWhereThereIsNothingToChoose(t *testing.T) {
	s := newFake(2).play(time.Second)
	m := at(s, 80, 24)
	for key, want := range map[string]string{"n": "do not distinguish replicas", "m": "cover one model"} {
		pressAll(m, key)
		if text := ansi.Strip(m.View().Content); !strings.Contains(text, want) || len(s.calls) > 0 {
			t.Errorf("%s: no %q, or asked for %q", key, want, s.calls)
		}
	}
	s.onPage, s.noKV = []string{"a", "b"}, true
	if text := goOn(at(s, 120, 40), s); !strings.Contains(text, "press m") {
		t.Errorf("nothing says how to choose:\n%s", text)
	}
}

func TestNamesFromServersStayHarmless(t *testing.T) {
	evil := "a\x1b]52;c;aGk=\x07\x1b[2J\u202edcba\r\nb"
	s := newFake(2)
	s.replicas, s.onPage, s.model = []engine.Replica{{Name: evil + "1"}, {Name: evil + "2"}}, []string{evil, "b"}, evil
	s.play(time.Second)
	m := at(s, 120, 40)
	pressAll(m, "n7z")
	goOn(m, s)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, keys := range []string{"", "z", "i"} {
		pressAll(m, keys)
		for _, r := range stripStyles(m.View().Content) {
			if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e) {
				t.Fatalf("after %q: %q reaches the terminal", keys, r)
			}
		}
	}
}
