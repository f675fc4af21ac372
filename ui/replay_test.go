package ui

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
	"sonde/probe/record"
	"sonde/ui/history"
)

// fakePlayback is a recording that is moved by hand.
type fakePlayback struct {
	frames []*frame.Frame
	state  frame.PlaybackState
	calls  []string
}

func (p *fakePlayback) Since(seq uint64) []*frame.Frame {
	var out []*frame.Frame
	for _, f := range p.frames {
		if f.Seq > seq && f.At <= p.state.At {
			out = append(out, f)
		}
	}
	return out
}

func (p *fakePlayback) Pause(on bool)              { p.state.Paused = on }
func (p *fakePlayback) SetSpeed(x float64)         { p.state.Speed = x }
func (p *fakePlayback) State() frame.PlaybackState { return p.state }
func (p *fakePlayback) Jump(by time.Duration) {
	p.calls = append(p.calls, by.String())
	if p.state.At += by; by < 0 {
		p.state.Epoch++
	}
	p.state.At = max(p.state.At, 0)
}

func replayed(frames []*frame.Frame, at time.Duration) (*model, *fakePlayback, *[]*fakeJudge) {
	last := frames[len(frames)-1].At
	p := &fakePlayback{frames: frames, state: frame.PlaybackState{At: at, Last: last, Speed: 1}}
	judges := &[]*fakeJudge{}
	judge := func() Judge {
		*judges = append(*judges, &fakeJudge{})
		return (*judges)[len(*judges)-1]
	}
	m := newModel(Options{Frames: p, Playback: p, Judge: judge(), NewJudge: judge}, newTestTheme())
	m.pull(time.Now())
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	return m, p, judges
}

// firstLine is the title without styles.
func firstLine(m *model) string {
	line, _, _ := strings.Cut(ansi.Strip(m.View().Content), "\n")
	return line
}

func TestARecordingSaysWhereItIs(t *testing.T) {
	frames := allFrames(newFake(4), 60*time.Second)
	m, p, _ := replayed(frames, 20*time.Second)
	for _, step := range []struct {
		set  func()
		want string
	}{
		{func() {}, "◆ replay  level"},
		{func() { p.state.Speed = 4 }, "◆ replay 4×"},
		{func() { p.state.Speed = 0.125 }, "◆ replay 0.125×"},
		{func() { p.state.Seeking = true }, "○ seeking"},
		{func() { p.state.Seeking, p.state.Paused = false, true }, "PAUSED"},
		{func() { p.state.At, p.state.Ended = time.Minute, true }, "end of recording"},
	} {
		step.set()
		m.lastFrame = time.Now().Add(-time.Hour) // a recording is never silent
		m.pull(time.Now())
		m.draw()
		if line := firstLine(m); !strings.Contains(line, step.want) || !strings.Contains(line, "/00:01:00") || strings.Contains(line, "no data") {
			t.Errorf("%q is not in %q", step.want, line)
		}
	}
	if !strings.Contains(ansi.Strip(m.View().Content), "end of recording: , and") {
		t.Error("the end is not reported")
	}
	p.state.Ended = false
	m.pull(time.Now())
	p.state.Ended, p.state.Err = true, errors.New("line 7 of the recording: broken")
	m.pull(time.Now())
	m.draw()
	if !strings.Contains(ansi.Strip(m.View().Content), "rest of the recording: line 7") {
		t.Error("the fault is not reported")
	}
}

// After a jump back nothing of later times is left: neither columns, nor points
// of the curve, nor what the judge has seen.
func TestAJumpBackBeginsAnew(t *testing.T) {
	frames := allFrames(newFake(4), 60*time.Second)
	m, p, judges := replayed(frames, 50*time.Second)
	pressAll(m, "<")
	want := 0
	for _, f := range frames {
		if f.At <= p.state.At {
			want++
		}
	}
	if p.state.Epoch != 1 || len(*judges) != 2 || (*judges)[1].added != want || m.lastSeq != uint64(want) {
		t.Errorf("epoch %d, %d judges, last Frame %d of %d", p.state.Epoch, len(*judges), m.lastSeq, want)
	}
	fresh, _, _ := replayed(frames, p.state.At)
	if !reflect.DeepEqual(m.live.History.Last(history.Keep), fresh.live.History.Last(history.Keep)) {
		t.Error("columns of later times are left")
	}
}

func TestKeysOfARecording(t *testing.T) {
	frames := allFrames(newFake(4), 60*time.Second)
	m, p, _ := replayed(frames, 30*time.Second)
	pressAll(m, ",.<>{{}")
	press(m, "home")
	press(m, "end")
	want := []string{"-10s", "10s", "-1m0s", "1m0s", (-beyond).String(), beyond.String()}
	if !slices.Equal(p.calls, want) || p.state.Speed != 0.5 {
		t.Errorf("%v, speed %v", p.calls, p.state.Speed)
	}
	press(m, "space")
	if !p.state.Paused || m.paused {
		t.Error("space stops the recording, not the picture")
	}
	press(m, "space")
	if p.state.Paused {
		t.Error("space does not let it go on")
	}
	live := at(newFake(1).play(time.Second), 120, 40)
	press(live, "<")
	if text := ansi.Strip(live.View().Content); !strings.Contains(text, "in recordings only") {
		t.Error("a live session takes the keys of a recording without a word")
	}
	line := strings.Split(ansi.Strip(m.View().Content), "\n")[39]
	if !strings.Contains(line, ",. 10 s") || !strings.Contains(line, "{} speed") || strings.Contains(line, "concurrency") {
		t.Errorf("key line %q", line)
	}
}

// The error that ended the session is shown, and its last picture stays.
func TestARecordedEndOfTheSessionEndsNothing(t *testing.T) {
	frames := allFrames(newFake(4), 10*time.Second)
	last := *frames[len(frames)-1]
	last.Err = errors.New("the server is gone")
	frames[len(frames)-1] = &last
	m, _, _ := replayed(frames, time.Minute)
	if m.err != nil || !strings.Contains(ansi.Strip(m.View().Content), "the session ended here: the server is gone") {
		t.Errorf("ends with %v", m.err)
	}
}

// allFrames are all Frames of a stretch of the fake.
func allFrames(s *fakeSource, d time.Duration) []*frame.Frame {
	return moreFrames(s, d)
}

// moreFrames are those of a further stretch.
func moreFrames(s *fakeSource, d time.Duration) []*frame.Frame {
	var all []*frame.Frame
	for range d / fakeSlice {
		s.play(fakeSlice)
		all = append(all, s.Since(s.seq-1)...)
	}
	return all
}

// file is a recording in memory.
type file struct{ bytes.Buffer }

func (*file) Close() error { return nil }

// rerecorded writes Frames and reads them back.
func rerecorded(t *testing.T, frames []*frame.Frame) []*frame.Frame {
	t.Helper()
	var out []*frame.Frame
	for part := range slices.Chunk(frames, 64) {
		f := &file{}
		w := record.NewWriter(f, record.Header{})
		for _, frame := range part {
			w.Add(frame)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, read, err := record.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, read...)
	}
	return out
}

// everywhere draws each panel zoomed and explained, the help, the verdicts and the
// whole, at two sizes.
func everywhere(m *model) []string {
	var views []string
	for _, size := range [][2]int{{120, 40}, {80, 24}} {
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		views = append(views, m.View().Content)
		for _, panel := range "12345678" {
			pressAll(m, string(panel)+"z")
			views = append(views, m.View().Content)
			pressAll(m, "i")
			views = append(views, m.View().Content)
			press(m, "esc")
			press(m, "esc")
		}
		pressAll(m, "v")
		views = append(views, m.View().Content)
		press(m, "esc")
	}
	return views
}

// What the screen reads of a Frame survives the file: the pictures are the same.
func TestARecordingLooksLikeItsSession(t *testing.T) {
	frames := allFrames(newFake(6), 50*time.Second)
	m, _, _ := replayed(frames, time.Hour)
	again, _, _ := replayed(rerecorded(t, frames), time.Hour)
	want := everywhere(m)
	for i, view := range everywhere(again) {
		if view != want[i] {
			t.Errorf("picture %d differs:\n%s\n%s", i, ansi.Strip(view), ansi.Strip(want[i]))
		}
	}
}

// A recording is a file like any other: no text in it steers the terminal.
func TestTextsOfARecordingDoNotSteerTheTerminal(t *testing.T) {
	frames := allFrames(newFake(2), 5*time.Second)
	evil := *frames[len(frames)-1]
	poison(reflect.ValueOf(&evil).Elem())
	evil.Err = errors.New(poisonText)
	evil.Seq, evil.At = frames[len(frames)-1].Seq, frames[len(frames)-1].At
	frames[len(frames)-1] = &evil
	m, p, _ := replayed(rerecorded(t, frames), time.Hour)
	p.state.Ended, p.state.Err = true, errors.New(poisonText)
	m.pull(time.Now())
	seen := false
	for _, view := range everywhere(m) {
		seen = seen || strings.Contains(view, "aGk=")
		if rest := ansi.Strip(view); strings.ContainsAny(rest, "\x1b\x07\u009b\r") || strings.Contains(view, "]52;") && strings.Contains(view, "\x1b]") || strings.Contains(view, "\x1b[2J") {
			t.Fatalf("%q", view)
		}
	}
	if !seen {
		t.Error("no text of the recording was shown at all")
	}
}

const poisonText = "a\x1b]52;c;aGk=\x07b\x1b[2Jc\u009b31md\r\n"

// poison puts control codes into every text of a Frame.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(poisonText)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && v.Type().Elem().Kind() != reflect.Float32 && v.Type().Elem().Kind() != reflect.Float64 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			poison(v.Index(i))
		}
	}
}
