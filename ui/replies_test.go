package ui

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// A terminal at the end of a slow line replies after the program has ended: nothing of that
// reaches the shell, and what is typed afterwards does.
func TestLateRepliesDoNotReachTheShell(t *testing.T) {
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminal here: ", err)
	}
	t.Cleanup(func() { _ = terminal.Close(); _ = tty.Close() })
	_ = pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 80})
	ended := make(chan error, 1)
	go func() {
		ended <- run(context.Background(), Options{Frames: stepping{newFake(1)}, Input: tty, Output: tty})
	}()

	screen := bufio.NewReader(terminal)
	until := func(text string) {
		t.Helper()
		var seen strings.Builder
		for !strings.HasSuffix(seen.String(), text) {
			b, err := screen.ReadByte()
			if err != nil {
				t.Fatalf("the screen ends before %q: %v", text, err)
			}
			seen.WriteByte(b)
		}
	}
	until("\x1b[?u") // the last question
	_, _ = io.WriteString(terminal, "q")
	until("\x1b[?1049l") // back on the main screen
	go func() { _, _ = io.Copy(io.Discard, screen) }()
	_, _ = io.WriteString(terminal, "\x1b[?2026;2$y\x1b[?2027;2$y\x1b[?0u")
	if err := result(t, ended); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(terminal, "ls\n")
	if line, err := bufio.NewReader(tty).ReadString('\n'); err != nil || line != "ls\n" {
		t.Errorf("the shell reads %q, %v", line, err)
	}
}
