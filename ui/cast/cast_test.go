package cast

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// play shows a cast in a terminal, and returns the terminal and the times of the events.
func play(t *testing.T, cast string) (*vt.Emulator, []float64) {
	t.Helper()
	first, rest, _ := strings.Cut(cast, "\n")
	var h header
	if err := json.Unmarshal([]byte(first), &h); err != nil || h.Version != 2 {
		t.Fatalf("header %s: %v", first, err)
	}
	e := vt.NewEmulator(h.Width, h.Height)
	_, _ = e.WriteString("what the terminal showed before")
	var times []float64
	for _, l := range strings.Split(strings.TrimSpace(rest), "\n") {
		var seconds float64
		var kind, data string
		if err := json.Unmarshal([]byte(l), &[]any{&seconds, &kind, &data}); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		times = append(times, seconds)
		if kind == "r" {
			var w, h int
			if _, err := fmt.Sscanf(data, "%dx%d", &w, &h); err != nil {
				t.Fatal(err)
			}
			e.Resize(w, h)
			continue
		}
		_, _ = e.WriteString(data)
	}
	return e, times
}

// shows reports a difference between what a terminal shows and a screen drawn at once.
func shows(t *testing.T, e *vt.Emulator, w, h int, content string) {
	t.Helper()
	want := vt.NewEmulator(w, h)
	_, _ = want.WriteString(strings.ReplaceAll(content, "\n", "\r\n"))
	if e.Width() != w || e.Height() != h || e.Render() != want.Render() {
		t.Errorf("%d×%d:\n%s\nwant %d×%d:\n%s", e.Width(), e.Height(), e.Render(), w, h, want.Render())
	}
}

func TestPlaysBack(t *testing.T) {
	var r Recorder
	r.Add(start, 6, 3, "title \n\x1b[31mred\x1b[m   \nlast <")
	r.Add(start.Add(250*time.Millisecond), 6, 3, "title \n\x1b[31mred\x1b[m   \nlast <") // the same
	r.Add(start.Add(500*time.Millisecond), 6, 3, "title \n⣿▂€\nlast <")                  // a shorter line
	early := r.Recording()
	r.Add(start.Add(1250*time.Millisecond), 6, 3, "TITLE \n⣿▂€\nlast >")

	cast := r.Recording().String()
	e, times := play(t, cast)
	shows(t, e, 6, 3, "TITLE \n⣿▂€\nlast >")
	if fmt.Sprint(times) != "[0 0.5 1.25]" {
		t.Errorf("events at %v s", times)
	}
	lines := strings.Split(cast, "\n")
	if want := `{"version":2,"width":6,"height":3,"timestamp":1767323045,"title":"sonde"}`; lines[0] != want {
		t.Errorf("header %s, want %s", lines[0], want)
	}
	if want := `[0.5,"o","\u001b[2;1H\u001b[m\u001b[2K⣿▂€\u001b[m"]`; lines[2] != want {
		t.Errorf("a change of one line is %s, want %s", lines[2], want)
	}
	e, _ = play(t, early.String())
	shows(t, e, 6, 3, "title \n⣿▂€\nlast <")
}

func TestPlaysBackAfterResize(t *testing.T) {
	var r Recorder
	r.Add(start, 6, 2, "before\nresize")
	r.Add(start.Add(time.Second), 8, 3, "before  \nresize  \nwas here")
	r.Add(start.Add(2*time.Second), 8, 3, "after   \nresize  \nwas here")
	e, times := play(t, r.Recording().String())
	shows(t, e, 8, 3, "after   \nresize  \nwas here")
	if fmt.Sprint(times) != "[0 1 1 2]" { // the resize and what is drawn after it
		t.Errorf("events at %v s", times)
	}
	r.Add(start.Add(3*time.Second), 5, 1, "small")
	e, _ = play(t, r.Recording().String())
	shows(t, e, 5, 1, "small")
	// Once the resize is older than what is kept, the cast begins with the new size.
	r.Add(start.Add(10*time.Minute), 5, 1, "later")
	cast := r.Recording().String()
	if !strings.HasPrefix(cast, `{"version":2,"width":5,"height":1,`) || strings.Contains(cast, `"r"`) {
		t.Error(cast)
	}
	e, times = play(t, cast)
	shows(t, e, 5, 1, "later")
	if fmt.Sprint(times) != "[0 180]" { // what was on 3 minutes before, and the change at the end
		t.Errorf("events at %v s", times)
	}
}

// A cast ends with the present screen also when its beginning was dropped, for age or size.
func TestKeepsWithinBounds(t *testing.T) {
	for name, lineBytes := range map[string]int{"age": 10, "size": 100_000} {
		var r Recorder
		content := ""
		for i := range 2000 {
			content = fmt.Sprintf("%04d%s\nfixed", i, strings.Repeat("\x1b[31m\x1b[m", lineBytes/8))
			if i%2 == 1 {
				content = strings.Replace(content, "fixed", "other", 1)
			}
			r.Add(start.Add(time.Duration(i)*250*time.Millisecond), 10, 2, content)
			sum := 0
			for _, c := range r.kept.changes {
				sum += c.size()
			}
			if sum != r.bytes || sum > keepBytes || len(r.kept.changes) > 4*180 {
				t.Fatalf("%s: %d changes of %d bytes, counted %d", name, len(r.kept.changes), sum, r.bytes)
			}
		}
		e, times := play(t, r.Recording().String())
		shows(t, e, 10, 2, content)
		want := 179.75 // 720 changes, the first of them at the beginning
		if name == "age" {
			want = 180
		} else if want = float64(keepBytes/100_200) / 4; times[len(times)-1] > keepFor.Seconds() {
			t.Errorf("%s: %v s", name, times[len(times)-1])
		}
		if got := times[len(times)-1]; got < want-0.5 || got > want+0.5 {
			t.Errorf("%s: a cast of %v s, want about %v", name, got, want)
		}
	}
}
