package level

import (
	"cmp"
	"maps"
	"slices"

	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Counts say what became of the requests. Sent is the sum of OK, Failed, Cancelled and the
// class "loading"; excluded ones are among them.
type Counts struct {
	Sent      int                   `json:"sent"`
	OK        int                   `json:"ok"`
	Failed    int                   `json:"failed"`
	Cancelled int                   `json:"cancelled"`
	Excluded  int                   `json:"excluded"`
	ByClass   map[measure.Class]int `json:"by_class"` // without those that were cancelled
}

// Refused is how many of the failed requests hit a rate limit.
func (c *Counts) Refused() int { return c.ByClass[measure.RateLimited] }

// ErrorShare is the share of requests that failed; unknown if none has ended.
func (c *Counts) ErrorShare() opt.Float { return ratio(c.Failed, c.OK+c.Failed) }

// Failures from which on a load is more than a service holds.
const (
	failedMuch   = 0.1 // share of requests
	failedAtOnce = 5   // that are no chance
)

// FailsMuch reports whether so many requests fail that the load is too much.
func (c *Counts) FailsMuch() bool {
	return c.Failed >= failedAtOnce && c.ErrorShare().V > failedMuch
}

// ErrorCount is one message of failed requests.
type ErrorCount struct {
	Class   measure.Class `json:"class"`
	Message string        `json:"message"`
	Count   int           `json:"count"`
}

// maxMessages bounds the distinct error messages that are kept: some servers put a fresh id
// into each one.
const maxMessages = 100

// OtherMessages stands for all messages beyond those that are kept.
const OtherMessages = "(other messages)"

// Errors counts the messages of failed requests.
type Errors struct{ counts map[failure]int }

type failure struct {
	class   measure.Class
	message string
}

// Add counts a message n times.
func (e *Errors) Add(class measure.Class, message string, n int) {
	f := failure{class, message}
	if _, known := e.counts[f]; !known && len(e.counts) >= maxMessages {
		f.message = OtherMessages
	}
	if e.counts == nil {
		e.counts = map[failure]int{}
	}
	e.counts[f] += n
}

// List is sorted by count, most frequent first.
func (e *Errors) List() []ErrorCount {
	list := make([]ErrorCount, 0, len(e.counts))
	for f, n := range e.counts {
		list = append(list, ErrorCount{Class: f.class, Message: f.message, Count: n})
	}
	slices.SortFunc(list, func(a, b ErrorCount) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Class, b.Class), cmp.Compare(a.Message, b.Message))
	})
	return list
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

// counts gather what became of the requests, and their tokens.
type counts struct {
	requests Counts
	errors   Errors
	tokens   Tokens
}

// addLoading counts a refusal by a server that is not ready: a request that was sent, a
// class, no failure.
func (c *counts) addLoading() {
	c.requests.Sent++
	c.class(measure.Loading)
}

func (c *counts) class(class measure.Class) {
	if c.requests.ByClass == nil {
		c.requests.ByClass = map[measure.Class]int{}
	}
	c.requests.ByClass[class]++
}

// add counts a request that ended. One that is excluded is also counted by its result.
func (c *counts) add(r *measure.Request) {
	c.requests.Sent++
	if r.Excluded {
		c.requests.Excluded++
	}
	t := &c.tokens
	t.arrivedChunks += r.Chunks
	t.coalesced += r.Coalesced
	switch r.Class {
	case measure.OK:
		c.requests.OK++
		t.add(r)
		return
	case measure.Cancelled:
		c.requests.Cancelled++
	default:
		c.requests.Failed++
		c.class(r.Class)
		c.errors.Add(r.Class, r.Error, 1)
	}
	t.PartialOutput += r.OutTokens
}

// add counts the tokens of a success.
func (t *Tokens) add(r *measure.Request) {
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

// copies are the counts in maps of their own.
func (c *counts) copies() (Counts, Tokens) {
	requests, tokens := c.requests, c.tokens
	requests.ByClass, tokens.BySource = maps.Clone(requests.ByClass), maps.Clone(tokens.BySource)
	return requests, tokens
}

func ratio(part, whole int) opt.Float {
	if whole == 0 {
		return opt.Float{}
	}
	return opt.Of(float64(part) / float64(whole))
}

// maxNotes bounds the distinct remarks that are kept.
const maxNotes = 20

// Note is a remark that a Frame or a request made, and how often.
type Note struct {
	Text  string
	Count int
}

// notes gathers remarks in the order of their first appearance.
type notes struct {
	list []Note
	at   map[string]int // in the list
}

func (n *notes) add(text string) {
	if text == "" {
		return
	}
	if i, known := n.at[text]; known {
		n.list[i].Count++
		return
	}
	if len(n.list) == maxNotes {
		return
	}
	if n.at == nil {
		n.at = map[string]int{}
	}
	n.at[text] = len(n.list)
	n.list = append(n.list, Note{text, 1})
}
