// Package prompt makes the prompts that are sent: synthetic ones of a requested
// length in tokens, or those of a file exactly as given.
package prompt

import (
	"encoding/json"
	"fmt"
	"os"
)

// Prompt is one prompt to send.
type Prompt struct {
	Text     string
	Messages json.RawMessage // instead of Text: a list of chat messages, sent as given
	Tokens   int             // requested length, of a conversation's prompt that of its newest message; 0 for a file's
	history  int             // tokens of a conversation before its newest message, about
	shape    shape           // of a synthetic one, for Learn

	MaxTokens int // output tokens set by a line of the file; 0: the load decides
}

// bytesPerToken is the usual length of a token in English text.
const bytesPerToken = 4

// Estimate is about how many tokens the prompt has: the requested number, after what came
// before it, or a guess from its length.
func (p Prompt) Estimate() int {
	if p.Tokens > 0 {
		return p.history + p.Tokens
	}
	return (len(p.Text) + len(p.Messages)) / bytesPerToken
}

// Source hands out prompts. It is safe for use by many streams at once.
type Source interface {
	// Next is a prompt of about the requested number of tokens. A file's prompts
	// come in their order, whatever is requested.
	Next(tokens int) Prompt
	// Learn takes the server's own count for a prompt that Next made.
	Learn(p Prompt, tokens int)
}

// Prefix is what a prefix cache on the server may reuse.
type Prefix string

// Prefixes of synthetic prompts.
const (
	Unique Prefix = "unique" // nothing: every prompt differs from its first word on
	Shared Prefix = "shared" // the first half, which all prompts have in common
	Same   Prefix = "same"   // everything: one prompt for all requests of a length
)

// Prefixes are all of them, from the least to the most that can be reused.
var Prefixes = []Prefix{Unique, Shared, Same}

// Open gives the prompts of a file, or synthetic ones if path is "".
func Open(path string, prefix Prefix, seed uint64) (Source, error) {
	if path == "" {
		return NewSynthetic(prefix, seed), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--prompts: %w", err)
	}
	defer file.Close()
	return Read(file, path)
}
