package core

import (
	"bytes"
	"strings"
)

// Transcript makes the text of an answer from its tokens: reasoning first, then
// the answer up to a stop string. A stop string may begin in one token and end in a
// later one, so what could be the beginning of one is held back until it is clear.
type Transcript struct {
	thinking int // tokens of reasoning at the beginning
	minimum  int // tokens before which no stop string counts
	stops    []string
	held     []byte
	N        int    // tokens so far
	Found    string // stop string that ended it
}

// NewTranscript makes the transcript of an answer from its beginning.
func NewTranscript(s *Sequence) Transcript {
	return Transcript{thinking: s.Thinking, minimum: s.MinTokens, stops: s.Stops}
}

// Reasons reports whether the next token is reasoning.
func (t *Transcript) Reasons() bool { return t.N < t.thinking }

// Append appends the text that can be shown with the next token: none while it may be
// the beginning of a stop string.
func (t *Transcript) Append(b []byte, w uint16) []byte {
	place := t.N // in the reasoning, or in the answer
	if t.N >= t.thinking {
		place -= t.thinking
	}
	t.N++
	if len(t.stops) == 0 || t.N <= t.thinking {
		return appendWord(b, w, place)
	}
	t.held = appendWord(t.held, w, place)
	show := len(t.held)
	if t.N >= t.minimum {
		show = t.search()
	}
	b = append(b, t.held[:show]...)
	t.held = append(t.held[:0], t.held[show:]...)
	return b
}

// search looks for the first stop string in what is held back, and returns how much of
// it can be shown. Nothing from the beginning of a stop string on is ever shown.
func (t *Transcript) search() (show int) {
	show = len(t.held)
	for _, stop := range t.stops {
		if i := bytes.Index(t.held, []byte(stop)); i >= 0 && i < show {
			show, t.Found = i, stop
		}
	}
	if t.Found != "" {
		t.held = t.held[:show]
		return show
	}
	for _, stop := range t.stops {
		for n := min(len(stop)-1, len(t.held)); len(t.held)-n < show; n-- {
			if strings.HasPrefix(stop, string(t.held[len(t.held)-n:])) {
				show = len(t.held) - n
			}
		}
	}
	return show
}

// Rest is what is still held back when the answer has ended.
func (t *Transcript) Rest() []byte { return t.held }
