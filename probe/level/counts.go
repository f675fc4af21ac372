package level

import (
	"cmp"
	"slices"

	"sonde/probe/measure"
	"sonde/probe/opt"
)

// ErrorCount is one message of failed requests.
type ErrorCount struct {
	Class   measure.Class `json:"class"`
	Message string        `json:"message"`
	Count   int           `json:"count"`
}

// maxMessages bounds the distinct error messages that are kept: some servers put a fresh ID
// into each one.
const maxMessages = 100

// OtherMessages stands for all messages beyond those that are kept.
const OtherMessages = "(other messages)"

// Errors counts the messages of failed requests.
type Errors []ErrorCount

// Add counts a message n times.
func (e *Errors) Add(class measure.Class, message string, n int) {
	find := func() int {
		return slices.IndexFunc(*e, func(c ErrorCount) bool { return c.Class == class && c.Message == message })
	}
	i := find()
	if i < 0 && len(*e) >= maxMessages {
		message = OtherMessages
		i = find()
	}
	if i < 0 {
		*e = append(*e, ErrorCount{Class: class, Message: message, Count: n})
		return
	}
	(*e)[i].Count += n
}

// List is a sorted copy, most frequent first.
func (e Errors) List() []ErrorCount {
	return slices.SortedFunc(slices.Values(e), func(a, b ErrorCount) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Class, b.Class), cmp.Compare(a.Message, b.Message))
	})
}

// Tokens are sums over the requests that succeeded, except PartialOutput.
type Tokens struct {
	Input, CachedInput       int // as far as the server counted the prompts
	Output, Reasoning        int
	PartialOutput            int // of requests that failed or were cancelled
	Uncounted                int // requests whose prompt nobody counted
	BySource                 map[measure.TokenSource]int
	WholeReplies             int // requests that were not streamed
	streamedOut, chunks      int // output tokens and chunks of those that were
	arrivedChunks, coalesced int // of all requests
}

// PerChunk is the mean number of tokens in a chunk.
func (t *Tokens) PerChunk() opt.Float { return ratio(t.streamedOut, t.chunks) }

// CoalescedShare is the share of chunks that came in one read with another.
func (t *Tokens) CoalescedShare() opt.Float { return ratio(t.coalesced, t.arrivedChunks) }

// promptCounted reports whether the server said how long the prompt of a success was: there
// is no prompt without a token.
func promptCounted(r *measure.Request) bool { return r.InTokens > 0 }

// add counts the tokens of a request that ended.
func (t *Tokens) add(r *measure.Request) {
	t.arrivedChunks += r.Chunks
	t.coalesced += r.Coalesced
	if r.Class != measure.OK {
		t.PartialOutput += r.OutTokens
		return
	}
	t.Input += r.InTokens
	t.Output += r.OutTokens
	t.Reasoning += r.ReasoningTokens
	t.CachedInput += r.CachedTokens
	if !promptCounted(r) {
		t.Uncounted++
	}
	if r.Source != "" {
		if t.BySource == nil {
			t.BySource = map[measure.TokenSource]int{}
		}
		t.BySource[r.Source]++
	}
	if !r.Streamed {
		t.WholeReplies++
		return
	}
	t.streamedOut += r.OutTokens
	t.chunks += r.Chunks
}

// ratio is unknown where nothing is part of nothing.
func ratio(part, whole int) opt.Float { return opt.Of(float64(part) / float64(whole)) }

// maxNotes bounds the distinct notes that are kept.
const maxNotes = 20

// Note is something that a Frame or a request remarked on, and how often.
type Note struct {
	Text  string
	Count int
}

// note adds a note to those of a level, which are in the order of their first appearance.
func note(notes []Note, text string) []Note {
	if text == "" {
		return notes
	}
	i := slices.IndexFunc(notes, func(n Note) bool { return n.Text == text })
	if i >= 0 {
		notes[i].Count++
	} else if len(notes) < maxNotes {
		notes = append(notes, Note{text, 1})
	}
	return notes
}
