package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"sonde/probe/sim/core"
)

// tokenize counts a prompt, or messages with the chat template around them, as
// the other endpoints would.
func (a *API) tokenize(w http.ResponseWriter, r *http.Request) *apiError {
	b, e := a.readBody(w, r)
	if e != nil {
		return e
	}
	count := (*requestBody).messageTokens
	if b.Prompt != nil {
		count = (*requestBody).promptTokens
	}
	ids, e := count(b)
	if e != nil {
		return e
	}
	a.texts.learn(b)
	return writeJSON(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": a.setup.MaxModelLen, "tokens": ids})
}

// detokenize turns tokens back into text, with a blank in front of each word: white
// space is not a token. A token's number is a hash of its text, so only tokens that this
// engine writes or that /tokenize was given can be turned back.
func (a *API) detokenize(w http.ResponseWriter, r *http.Request) *apiError {
	var b struct {
		Tokens []uint32 `json:"tokens"`
	}
	if e := readJSON(w, r, &b); e != nil {
		return e
	}
	text, e := a.texts.join(b.Tokens)
	if e != nil {
		return e
	}
	return writeJSON(w, http.StatusOK, map[string]any{"prompt": text})
}

// tokenTexts remembers the texts of tokens: the vocabulary's, and some that /tokenize
// was given.
type tokenTexts struct {
	mu    sync.Mutex
	known map[uint32]string
}

func newTokenTexts() *tokenTexts {
	t := &tokenTexts{known: map[uint32]string{}}
	for _, w := range core.Vocabulary {
		t.known[w.ID] = strings.TrimPrefix(w.Text, " ")
	}
	for _, mark := range []string{"<begin>", "<end>", "<role system>", "<role user>", "<role assistant>"} {
		t.known[core.TokenID(mark)] = mark
	}
	return t
}

// learn remembers the texts of a request, up to a limit of memory.
func (t *tokenTexts) learn(b *requestBody) {
	const most = 1 << 16
	t.mu.Lock()
	defer t.mu.Unlock()
	remember := func(piece string) {
		if id := core.TokenID(piece); t.known[id] == "" && len(t.known) < most {
			t.known[id] = strings.Clone(piece)
		}
	}
	var text string
	if json.Unmarshal(b.Prompt, &text) == nil {
		core.EachToken(text, remember)
	}
	for _, m := range b.Messages {
		remember("<role " + m.Role + ">")
		core.EachToken(string(m.Content), remember)
	}
}

func (t *tokenTexts) join(ids []uint32) (string, *apiError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text strings.Builder
	for _, id := range ids {
		piece, known := t.known[id]
		if !known {
			return "", badRequest("tokens", "tokens: %d is unknown: neither written by this engine nor sent to /tokenize", id)
		}
		if first, _ := utf8.DecodeRuneInString(piece); text.Len() > 0 && core.InWord(first) {
			text.WriteByte(' ')
		}
		text.WriteString(piece)
	}
	return text.String(), nil
}
