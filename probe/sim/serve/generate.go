package serve

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sonde/probe/sim/core"
)

// writeTimeout is how long a client may refuse to read before it is given up.
const writeTimeout = time.Minute

func (s *API) chat(w http.ResponseWriter, r *http.Request) {
	b, e := s.readBody(w, r)
	if e != nil {
		e.write(w)
		return
	}
	prompt, e := b.messageTokens()
	if e != nil {
		e.write(w)
		return
	}
	s.answer(w, r, b, prompt, chatDialect)
}

func (s *API) completions(w http.ResponseWriter, r *http.Request) {
	b, e := s.readBody(w, r)
	if e != nil {
		e.write(w)
		return
	}
	prompt, e := b.promptTokens()
	if e != nil {
		e.write(w)
		return
	}
	s.answer(w, r, b, prompt, completionDialect)
}

// answer generates, as a stream or whole. When the client hangs up the request
// leaves the engine.
func (s *API) answer(w http.ResponseWriter, r *http.Request, b *requestBody, prompt []uint32, d dialect) {
	a, e := b.ask(prompt, s.setup.MaxModelLen, d.maxTokens)
	if e != nil {
		e.write(w)
		return
	}
	if d.thought != "" {
		a.Reasoning = core.Reasoning(s.setup.Reasoning)
	}
	number := s.requests.Add(1)
	fate := drawFate(s.timetable.Faults(), number, s.setup.Seed)
	if fate.refusal != nil {
		fate.refusal.write(w)
		return
	}
	seq, box := core.NewSequence(a, s.setup), newMailbox(&s.timetable.Clump)
	seq.Sink = box.put
	if !s.driver.Submit(seq) {
		errNotRunning.write(w)
		return
	}
	defer s.driver.Abort(seq)
	id := d.idPrefix + "sim-" + strconv.FormatUint(number, 16)
	if b.Stream {
		c := newChunks(d, id, s.modelID, time.Now().Unix(), seq)
		if o := b.StreamOptions; o != nil {
			c.final, c.continuous = o.IncludeUsage, o.IncludeUsage && o.ContinuousUsage
		}
		s.stream(r.Context(), w, box, c, fate)
		return
	}
	s.whole(r.Context(), w, box, seq, id, d)
}

// stream sends the headers at once, and then whatever each iteration yields.
func (s *API) stream(ctx context.Context, w http.ResponseWriter, box *mailbox, c *chunks, f fate) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	control := http.NewResponseController(w)
	// The connection goes on to other requests. Not every writer has deadlines.
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	ok := control.Flush() == nil
	var words []uint16
	var out []byte
	for end := core.Unfinished; ok && end == core.Unfinished; {
		if e := s.await(ctx, box); e != nil {
			_, _ = w.Write(errorEvents(e))
			return
		}
		words, end = box.take(words)
		if f.breaksWithin(c.sent()+len(words), end) {
			send(w, control, c.append(out[:0], words, core.Unfinished))
			breakOff(w, f)
			return
		}
		out = c.append(out[:0], words, end)
		ok = send(w, control, out)
	}
}

// send writes and flushes; false if the client is gone or does not read.
func send(w http.ResponseWriter, control *http.ResponseController, b []byte) bool {
	_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := w.Write(b)
	return err == nil && control.Flush() == nil
}

// breakOff ends a stream as its fate has it.
func breakOff(w http.ResponseWriter, f fate) {
	if f.cut {
		panic(http.ErrAbortHandler) // the server's way to cut a connection
	}
	_, _ = w.Write(errorEvents(errStreamFault))
}

// await waits for tokens. An error means that none will come, or that nobody is
// there to read them.
func (s *API) await(ctx context.Context, box *mailbox) *apiError {
	select {
	case <-box.wake:
		return nil
	case <-ctx.Done():
	case <-s.driver.Ended:
	}
	return errNotRunning
}

// whole collects the answer and sends it as one JSON object.
func (s *API) whole(ctx context.Context, w http.ResponseWriter, box *mailbox, seq *core.Sequence, id string, d dialect) {
	var words []uint16
	var thought, text []byte
	script, end := core.NewTranscript(seq), core.Unfinished
	for end == core.Unfinished {
		if e := s.await(ctx, box); e != nil {
			e.write(w)
			return
		}
		words, end = box.take(words)
		for _, word := range words {
			word &^= Joined
			if script.Reasons() {
				thought = script.Append(thought, word)
			} else {
				text = script.Append(text, word)
			}
		}
	}
	text = append(text, script.Rest()...)
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": end, "stop_reason": nil}
	if script.Found != "" {
		choice["stop_reason"] = script.Found
	}
	if d.thought == "" {
		choice["text"] = string(text)
	} else {
		choice["message"] = newMessage(seq, thought, text)
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": id, "object": d.object, "created": time.Now().Unix(), "model": s.modelID,
		"choices": []any{choice}, "usage": newUsage(seq, script.N),
	})
}

// newMessage is the assistant's turn. An answer that its limit ended while it was
// still reasoning has no content.
func newMessage(seq *core.Sequence, thought, text []byte) map[string]any {
	m := map[string]any{"role": "assistant", "content": string(text)}
	if seq.Reasoning > 0 {
		m["reasoning_content"] = string(thought)
		if len(text) == 0 && len(thought) > 0 {
			m["content"] = nil
		}
	}
	return m
}

// mailbox holds the tokens of one request until its handler takes them. Putting
// never waits, so a slow client delays nobody but itself.
type mailbox struct {
	wake  chan struct{} // something was put
	clump *atomic.Int64 // tokens that make a reader wake up; 0 and 1: any

	mu    sync.Mutex
	words []uint16
	end   core.FinishReason
}

func newMailbox(clump *atomic.Int64) *mailbox {
	return &mailbox{wake: make(chan struct{}, 1), clump: clump}
}

// together marks a word whose successor belongs into the same chunk: the engine
// yielded both in one step.
const Joined = 1 << 15

func (m *mailbox) put(words []uint16, end core.FinishReason) {
	m.mu.Lock()
	m.words = append(m.words, words...)
	for i := len(m.words) - len(words); i < len(m.words)-1; i++ {
		m.words[i] |= Joined
	}
	m.end = end
	ready := end != core.Unfinished || int64(len(m.words)) >= m.clump.Load()
	m.mu.Unlock()
	if !ready {
		return
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take moves what has arrived into buf.
func (m *mailbox) take(buf []uint16) ([]uint16, core.FinishReason) {
	m.mu.Lock()
	defer m.mu.Unlock()
	buf = append(buf[:0], m.words...)
	m.words = m.words[:0]
	return buf, m.end
}
