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
func (s *API) tokenize(w http.ResponseWriter, r *http.Request) {
	b, e := s.readBody(w, r)
	if e != nil {
		e.write(w)
		return
	}
	var ids []uint32
	if b.Prompt != nil {
		ids, e = b.promptTokens()
	} else {
		ids, e = b.messageTokens()
	}
	if e != nil {
		e.write(w)
		return
	}
	s.pieces.learn(b)
	writeJSON(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": s.setup.MaxModelLen, "tokens": ids})
}

// detokenize turns tokens back into text, in which each word has a blank in front:
// white space is no token. A token's number is a hash of its text, so that only
// those can be turned back that this engine writes or that it was shown in /tokenize.
func (s *API) detokenize(w http.ResponseWriter, r *http.Request) {
	raw, e := readAll(w, r)
	if e != nil {
		e.write(w)
		return
	}
	var b struct {
		Tokens []uint32 `json:"tokens"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		decodeError(err).write(w)
		return
	}
	var text strings.Builder
	for _, id := range b.Tokens {
		piece, known := s.pieces.text(id)
		if !known {
			badRequest("tokens", "tokens: %d is of no text that this engine has written or was shown in /tokenize", id).write(w)
			return
		}
		if first, _ := utf8.DecodeRuneInString(piece); text.Len() > 0 && core.InWord(first) {
			text.WriteByte(' ')
		}
		text.WriteString(piece)
	}
	writeJSON(w, http.StatusOK, map[string]any{"prompt": text.String()})
}

// pieces remembers the texts of tokens: the vocabulary's, and some that were shown.
type pieces struct {
	mu    sync.Mutex
	shown map[uint32]string
}

var vocabularyPieces = func() map[uint32]string {
	known := map[uint32]string{}
	for _, w := range core.Vocabulary {
		known[w.ID] = strings.TrimPrefix(w.Text, " ")
	}
	for _, mark := range []string{"<begin>", "<end>", "<role system>", "<role user>", "<role assistant>"} {
		known[core.TokenID(mark)] = mark
	}
	return known
}()

// learn remembers the texts of a request to /tokenize, up to a limit of memory.
func (p *pieces) learn(b *requestBody) {
	const most = 1 << 16 // pieces
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown == nil {
		p.shown = map[uint32]string{}
	}
	remember := func(piece string) {
		if id := core.TokenID(piece); vocabularyPieces[id] == "" && len(p.shown) < most {
			p.shown[id] = strings.Clone(piece)
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

func (p *pieces) text(id uint32) (string, bool) {
	if piece, known := vocabularyPieces[id]; known {
		return piece, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	piece, known := p.shown[id]
	return piece, known
}
