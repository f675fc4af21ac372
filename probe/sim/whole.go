package sim

import (
	"context"
	"net/http"
	"time"
)

// whole collects the answer and sends it as one JSON object.
func (s *Server) whole(ctx context.Context, w http.ResponseWriter, box *mailbox, seq *sequence, id string, d dialect) {
	var words []uint16
	var thought, text []byte
	script, end := newTranscript(seq), finishNone
	for end == finishNone {
		if e := s.await(ctx, box); e != nil {
			e.write(w)
			return
		}
		words, end = box.take(words)
		for _, word := range words {
			word &^= together
			if script.reasons() {
				thought = script.append(thought, word)
			} else {
				text = script.append(text, word)
			}
		}
	}
	text = append(text, script.rest()...)
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": end, "stop_reason": nil}
	if script.found != "" {
		choice["stop_reason"] = script.found
	}
	if d.thought == "" {
		choice["text"] = string(text)
	} else {
		choice["message"] = messageOf(seq, thought, text)
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": id, "object": d.object, "created": time.Now().Unix(), "model": s.modelID,
		"choices": []any{choice}, "usage": usageOf(seq, script.n),
	})
}

// messageOf is the assistant's turn. An answer that its limit ended while it was
// still reasoning has no content.
func messageOf(seq *sequence, thought, text []byte) map[string]any {
	m := map[string]any{"role": "assistant", "content": string(text)}
	if seq.reasoning > 0 {
		m["reasoning_content"] = string(thought)
		if len(text) == 0 && len(thought) > 0 {
			m["content"] = nil
		}
	}
	return m
}
