package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
	"sonde/ui/history"
	"sonde/ui/theme"
)

// checkSize says what is wrong with the size of a picture: it must fill the
// screen to the cell.
func checkSize(content string, w, h int) error {
	if h == 0 {
		if content != "" {
			return fmt.Errorf("%d bytes on no line", len(content))
		}
		return nil
	}
	lines := strings.Split(content, "\n")
	if len(lines) != h {
		return fmt.Errorf("%d lines, want %d", len(lines), h)
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			return fmt.Errorf("line %d has %d cells, want %d: %q", i, got, w, ansi.Strip(l))
		}
	}
	return nil
}

func TestEverySizeIsFilledExactly(t *testing.T) {
	s := story().play(30 * time.Second)
	m := at(s, 120, 40)
	sizes := [][2]int{{0, 0}, {1, 1}, {2, 5}, {5, 1}, {10, 3}, {20, 5}, {40, 10}, {59, 16}, {60, 15}, {60, 16}, {300, 80}, {200, 60}}
	for w := 58; w <= 126; w += 4 {
		for h := 15; h <= 42; h += 3 {
			sizes = append(sizes, [2]int{w, h})
		}
	}
	for _, size := range sizes {
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		if err := checkSize(m.View().Content, size[0], size[1]); err != nil {
			t.Errorf("%d×%d: %v", size[0], size[1], err)
		}
	}
}

func TestZoomHelpAndExplainFillEverySize(t *testing.T) {
	withNothing := newFake(0)
	blind := newFake(4)
	blind.noGPU, blind.noKV = true, true
	many := newFake(40)
	many.gpus = 16
	for name, s := range map[string]*fakeSource{"nothing": withNothing, "blind": blind.play(3 * time.Second), "many": many.play(3 * time.Second)} {
		m := at(s, 80, 24)
		for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {250, 70}} {
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for _, keys := range []string{"z", "i", "?"} {
				pressAll(m, keys)
				for panel := '1'; panel <= '8'; panel++ {
					pressAll(m, string(panel))
					if err := checkSize(m.View().Content, size[0], size[1]); err != nil {
						t.Errorf("%s, key %s, panel %c, %v: %v", name, keys, panel, size, err)
					}
				}
				pressAll(m, "\x1b\x1b")
			}
		}
	}
}

// pressAll presses the keys of a string; \x1b is esc.
func pressAll(m *model, keys string) {
	for _, r := range keys {
		switch r {
		case '\x1b':
			m.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
		case ' ':
			m.Update(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
		default:
			m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func TestTooSmallSaysWhatIsNeeded(t *testing.T) {
	m := at(newFake(1).play(time.Second), 59, 20)
	if text := ansi.Strip(m.View().Content); !strings.Contains(text, "too small: need 60×16, have 59×20; the load keeps running") {
		t.Errorf("got %q", text)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if text := ansi.Strip(m.View().Content); !strings.Contains(text, "TTFT ms") {
		t.Error("the picture does not come back after growing")
	}
}

func TestUnknownIsADashWithItsReason(t *testing.T) {
	s := newFake(4)
	s.noGPU, s.noKV = true, true
	m := at(s.play(3*time.Second), 120, 40)
	text := ansi.Strip(m.View().Content)
	for _, want := range []string{"KV cache ", "llama-server: start it with", "no NVML library", "GPU ──"} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if strings.Contains(text, "0 W") || strings.Contains(text, "SM 0 %") {
		t.Error("an unknown value is shown as 0")
	}
}

func TestASCIIHasOnlyASCII(t *testing.T) {
	s := story().play(20 * time.Second)
	m := newModel(Options{Frames: s, Controls: s, Judge: &fakeJudge{}}, theme.New(colorprofile.ANSI256, true))
	m.pull(time.Now())
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for _, keys := range []string{"", "z", "i", "?"} {
		pressAll(m, keys)
		for _, r := range m.View().Content {
			if r > 126 {
				t.Fatalf("after %q: %q is not ASCII", keys, r)
			}
		}
		if err := checkSize(m.View().Content, 120, 40); err != nil {
			t.Errorf("after %q: %v", keys, err)
		}
		pressAll(m, "\x1b\x1b")
	}
}

func TestEveryGlyphHasAnASCIIForm(t *testing.T) {
	s := story().play(20 * time.Second)
	m := at(s, 120, 40)
	for _, r := range ansi.Strip(m.View().Content) {
		if braille := r >= 0x2800 && r <= 0x28ff; r > 126 && !braille && theme.ToASCII(r) == '?' {
			t.Errorf("%q has no ASCII form", r)
		}
	}
}

func TestHostileTextStaysHarmless(t *testing.T) {
	s := newFake(2).play(2 * time.Second)
	f := *s.Since(0)[len(s.Since(0))-1]
	evil := "a\x1b]52;c;aGk=\x07\x1b[2J\x1bc\x9b\u202edcba\r\nb"
	f.Client.LastError, f.Client.Failed = evil, 1
	f.Engine.Identity.Model, f.Engine.Identity.Name = evil, evil
	f.Engine.Why, f.GPU.Why, f.Target.Host, f.Load.Requested.Prefix = evil, evil, evil, evil
	f.Engine.Have, f.GPU.GPUs = false, nil
	f.Events = []frame.Event{{Kind: frame.EventNote, Text: evil}}
	f.Health.Bottleneck, f.Health.Why = true, evil
	m := newModel(Options{Frames: &playback{frames: []*frame.Frame{&f}}}, theme.New(colorprofile.NoTTY, false))
	m.pull(time.Now())
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for _, keys := range []string{"", "1z", "7", "6", "i"} {
		pressAll(m, keys)
		plain := stripStyles(m.View().Content)
		for _, r := range plain {
			if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e) {
				t.Fatalf("after %q: %q reaches the terminal", keys, r)
			}
		}
	}
}

// stripStyles removes what the theme may write, and nothing else.
func stripStyles(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\x1b' && i+1 < len(s) && s[i+1] == '[' {
			end := i + 2
			for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == ';') {
				end++
			}
			if end < len(s) && s[end] == 'm' {
				i = end
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func TestPauseFreezesThePictureAndGoesOnFolding(t *testing.T) {
	s := newFake(4).play(5 * time.Second)
	m := at(s, 120, 40)
	pressAll(m, " ")
	frozen := m.View().Content
	if !strings.Contains(ansi.Strip(frozen), "PAUSED") {
		t.Error("the title does not say PAUSED")
	}
	columns := len(m.live.History.Last(history.Keep))
	for range 20 {
		s.play(fakeSlice)
		m.Update(tickMsg{m.generation})
	}
	if m.View().Content != frozen {
		t.Error("the picture moved while it was paused")
	}
	m.Update(tea.WindowSizeMsg{Width: 121, Height: 40})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	if m.View().Content != frozen {
		t.Error("a resize thawed the picture")
	}
	if got := len(m.live.History.Last(history.Keep)); got != columns+5 {
		t.Errorf("%d columns were folded in 5 s, want 5", got-columns)
	}
	pressAll(m, " ")
	if m.View().Content == frozen {
		t.Error("the picture stays frozen")
	}
}

func TestOldTicksAreDropped(t *testing.T) {
	m := at(newFake(1), 80, 24)
	m.Update(tea.ResumeMsg{})
	if _, cmd := m.Update(tickMsg{m.generation - 1}); cmd != nil {
		t.Error("a tick of the old chain goes on")
	}
	if _, cmd := m.Update(tickMsg{m.generation}); cmd == nil {
		t.Error("the new chain stops")
	}
}
