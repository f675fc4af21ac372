package core

import (
	"bytes"
	"strings"
)

// stopFinder looks for stop strings in a text that comes in pieces. A stop string
// may begin in one piece and end in a later one, so what could be the beginning of
// one is held back until it is clear.
type stopFinder struct {
	stops []string
	held  []byte
}

// add takes the next piece and returns what may be shown. found is the stop string
// that the piece completed; nothing from its beginning on is ever shown.
func (f *stopFinder) add(piece []byte) (safe []byte, found string) {
	f.held = append(f.held, piece...)
	at := len(f.held)
	for _, stop := range f.stops {
		if i := bytes.Index(f.held[:min(len(f.held), at+len(stop))], []byte(stop)); i >= 0 && i < at {
			at, found = i, stop
		}
	}
	if found != "" {
		safe, f.held = f.held[:at], nil
		return safe, found
	}
	keep := f.beginning()
	cut := len(f.held) - keep
	safe = bytes.Clone(f.held[:cut])
	f.held = append(f.held[:0], f.held[cut:]...)
	return safe, ""
}

// beginning is the length of the longest end of the text that could begin a stop string.
func (f *stopFinder) beginning() int {
	longest := 0
	for _, stop := range f.stops {
		for n := min(len(stop)-1, len(f.held)); n > longest; n-- {
			if strings.HasPrefix(stop, string(f.held[len(f.held)-n:])) {
				longest = n
			}
		}
	}
	return longest
}

// skip shows a piece unchecked: before min_tokens nothing stops an answer.
func (f *stopFinder) skip(piece []byte) []byte {
	safe := append(f.held, piece...)
	f.held = nil
	return safe
}

// Transcript makes the text of an answer from its tokens: reasoning first, then
// the answer up to a stop string.
type Transcript struct {
	thinking int // tokens of reasoning at the beginning
	minimum  int // tokens before which no stop string counts
	finder   stopFinder
	N        int    // tokens so far
	Found    string // stop string that ended it
	piece    []byte
}

// NewTranscript makes the transcript of an answer from its beginning.
func NewTranscript(s *Sequence) Transcript {
	return Transcript{thinking: s.Thinking, minimum: s.MinTokens, finder: stopFinder{stops: s.Stops}}
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
	if len(t.finder.stops) == 0 || t.N <= t.thinking {
		return appendWord(b, w, place)
	}
	t.piece = appendWord(t.piece[:0], w, place)
	if t.N < t.minimum {
		return append(b, t.finder.skip(t.piece)...)
	}
	safe, found := t.finder.add(t.piece)
	t.Found = found
	return append(b, safe...)
}

// Rest is what is still held back when the answer has ended.
func (t *Transcript) Rest() []byte { return t.finder.held }
