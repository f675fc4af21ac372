package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"

	"sonde/probe/frame"
)

// terminal is a virtual terminal that a program can write to.
type terminal struct {
	mu  sync.Mutex
	emu *vt.Emulator
	raw strings.Builder
}

func newTerminal(t *testing.T, w, h int) *terminal {
	e := vt.NewEmulator(w, h)
	go func() { _, _ = io.Copy(io.Discard, e) }() // its answers to queries
	t.Cleanup(func() {
		if pipe, ok := e.InputPipe().(io.Closer); ok {
			_ = pipe.Close() // ends the reader; closing the emulator would race with it
		}
	})
	return &terminal{emu: e}
}

// Write does what a cooked tty does with line feeds.
func (v *terminal) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.raw.Write(p)
	_, err := v.emu.Write([]byte(strings.ReplaceAll(string(p), "\n", "\r\n")))
	return len(p), err
}

func (v *terminal) screen() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.emu.String()
}

// hangs is when a program that does not do what is waited for never will, on a machine
// however busy.
const hangs = time.Minute

// wait waits until the screen shows a text.
func (v *terminal) wait(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(v.screen(), text) {
			return
		}
	}
	t.Fatalf("the screen never shows %q:\n%s", text, v.screen())
}

// stepping plays a slice with every pull.
type stepping struct{ *fakeSource }

func (s stepping) Since(seq uint64) []*frame.Frame {
	s.play(fakeSlice)
	return s.fakeSource.Since(seq)
}

// start runs the whole program on a virtual terminal.
func start(t *testing.T, ctx context.Context, o Options) (*terminal, io.Writer, <-chan error) {
	v := newTerminal(t, 80, 24)
	in, keys := io.Pipe()
	t.Cleanup(func() { _ = keys.Close() })
	o.Input, o.Output = in, v
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, o, tea.WithWindowSize(80, 24)) }()
	return v, keys, ended
}

func result(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(hangs):
		t.Fatal("the program does not end")
		return nil
	}
}

func TestWholeProgramInAVirtualTerminal(t *testing.T) {
	s := newFake(4)
	v, keys, ended := start(t, context.Background(), Options{Frames: stepping{s}, Controls: s, Judge: &fakeJudge{}, Color: "always"})
	v.wait(t, "probing")
	v.wait(t, "TTFT ms")
	for _, step := range []struct{ keys, shows string }{
		{"+", "c   5"}, {"\x1b[A", "c   6"}, {"\x1b[C", "in 1536"}, {"l", "long prompt sent"},
		{"?", "lines 1 to"}, {"\x1b", "↑↓ concurrency"}, {"3z", "p99.9"}, {"z", "tokens/s"}, {" ", "PAUSED"}, {" ", "TTFT ms"},
		{"0", "stopped"},
	} {
		if _, err := io.WriteString(keys, step.keys); err != nil {
			t.Fatal(err)
		}
		v.wait(t, step.shows)
	}
	_, _ = io.WriteString(keys, "q")
	if err := result(t, ended); err != nil {
		t.Errorf("q ends with %v", err)
	}
	checkRestored(t, v)
}

// checkRestored looks for what a shell needs: the main screen and the cursor.
func checkRestored(t *testing.T, v *terminal) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	raw := v.raw.String()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h"} {
		if strings.LastIndex(raw, off) < strings.LastIndex(raw, on) {
			t.Errorf("%q is never undone", on)
		}
	}
	if v.emu.IsAltScreen() {
		t.Error("the alternate screen stays")
	}
}

func TestCtrlCInterrupts(t *testing.T) {
	v, keys, ended := start(t, context.Background(), Options{Frames: stepping{newFake(1)}})
	v.wait(t, "sonde")
	_, _ = io.WriteString(keys, "?\x03")
	if err := result(t, ended); !errors.Is(err, ErrInterrupted) {
		t.Errorf("ctrl+c ends with %v", err)
	}
	checkRestored(t, v)
}

func TestContextEndsWithItsCause(t *testing.T) {
	why := errors.New("time is up")
	ctx, cancel := context.WithCancelCause(context.Background())
	v, _, ended := start(t, ctx, Options{Frames: stepping{newFake(1)}})
	v.wait(t, "sonde")
	cancel(why)
	if err := result(t, ended); err != why {
		t.Errorf("got %v, want the cause", err)
	}
	checkRestored(t, v)
}

// broken is a source that fails in one way or the other.
type broken struct{ f func() []*frame.Frame }

func (b broken) Since(uint64) []*frame.Frame { return b.f() }

func TestFatalFrameAndPanicEndInAnError(t *testing.T) {
	gone := errors.New("the server is gone for good")
	for want, f := range map[string]func() []*frame.Frame{
		gone.Error():         func() []*frame.Frame { return []*frame.Frame{{Seq: 1, Err: gone}} },
		"internal error: oh": func() []*frame.Frame { panic("oh") },
	} {
		v, _, ended := start(t, context.Background(), Options{Frames: broken{f}})
		if err := result(t, ended); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		checkRestored(t, v)
	}
}

func TestWithoutATerminalOneLineNamesTheWayOut(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	err = CheckTerminal(r, w, "use sonde bench")
	if err == nil || !strings.Contains(err.Error(), "sonde bench") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if !strings.HasPrefix(err.Error(), "standard output is not a terminal") {
		t.Errorf("got %v", err)
	}
	if err = checkKind("dumb", "use sonde bench"); err == nil || !strings.Contains(err.Error(), "sonde bench") || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("TERM=dumb: %v", err)
	}
	if err = checkKind("xterm-256color", ""); err != nil {
		t.Errorf("TERM=xterm-256color: %v", err)
	}
}

// Without colour no colour code may be written, whatever a panel does.
func TestNoColorWritesNoColorCodes(t *testing.T) {
	s := newFake(4)
	v, keys, ended := start(t, context.Background(), Options{Frames: stepping{s}, Controls: s, Judge: &fakeJudge{}, Color: "never"})
	v.wait(t, "probing")
	_, _ = io.WriteString(keys, "1z?")
	v.wait(t, "lines 1 to")
	_, _ = io.WriteString(keys, "q")
	if err := result(t, ended); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"38;", "48;", "[3", "[9"} {
		for _, at := range strings.Split(v.raw.String(), "\x1b")[1:] {
			if end := strings.IndexByte(at, 'm'); end > 0 && isStyle(at[:end]) && strings.Contains(at[:end], code) {
				t.Fatalf("colour code %q", at[:end+1])
			}
		}
	}
}

// isStyle reports whether the parameters up to an m are only digits.
func isStyle(s string) bool {
	return s[0] == '[' && strings.Trim(s[1:], "0123456789;") == ""
}
