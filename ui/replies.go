package ui

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// Bubble Tea asks the terminal what it can do as soon as it starts, and does not wait for the
// replies. Without this, replies to a program that quits within the round trip would end up
// on the shell's prompt.

// repliesWithin is how long after the start a reply may still come. Many terminals do not
// know the last question and never reply to it.
const repliesWithin = time.Second

// lastReply is to the question that is asked last, about the keyboard.
var lastReply = regexp.MustCompile(`\x1b\[\?\d+u`)

// takeReplies reads the terminal until the last reply is there, or until then. It needs the
// terminal to itself: after the program has restored it, and before anybody else reads.
func takeReplies(in io.Reader, until time.Time) {
	tty, ok := in.(*os.File)
	if !ok || !time.Now().Before(until) {
		return
	}
	cooked, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return // not a terminal
	}
	defer func() { _ = term.Restore(int(tty.Fd()), cooked) }()
	r, err := cancelreader.NewReader(tty)
	if err != nil {
		return
	}
	defer func() { _ = r.Close() }()
	stop := time.AfterFunc(time.Until(until), func() { r.Cancel() })
	defer stop.Stop()
	var got bytes.Buffer
	for part := make([]byte, 256); !lastReply.Match(got.Bytes()); {
		n, err := r.Read(part)
		if err != nil {
			return
		}
		got.Write(part[:n])
	}
}
