package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sonde/probe/sim/core"
)

// writeTimeout is how long a client may not read before its stream is cut.
const writeTimeout = time.Minute

// generate answers as a stream or whole. When the client hangs up the request leaves the
// engine.
func (a *API) generate(d *dialect) handler {
	return func(w http.ResponseWriter, r *http.Request) *apiError {
		b, e := a.readBody(w, r)
		if e != nil {
			return e
		}
		request, e := b.request(d, a.setup)
		if e != nil {
			return e
		}
		number := a.requests.Add(1)
		fate := drawFate(a.timetable.Faults(), number, a.setup.Seed)
		if fate.refusal != nil {
			return fate.refusal
		}
		request.Salt = fate.cache + request.Salt
		seq, box := core.NewSequence(request, a.setup), newMailbox(&a.timetable.Clump)
		seq.Sink = box.put
		if !a.driver.Submit(seq) {
			return errNotRunning
		}
		defer a.driver.Abort(seq)
		id := d.idPrefix + "sim-" + strconv.FormatUint(number, 16)
		if !b.Stream {
			return a.whole(r.Context(), w, box, seq, id, d)
		}
		c := newChunks(d, id, a.modelID, time.Now().Unix(), seq)
		if o := b.StreamOptions; o != nil {
			c.final, c.continuous = o.IncludeUsage, o.IncludeUsage && o.ContinuousUsage
		}
		a.stream(r.Context(), w, box, c, fate)
		return nil
	}
}

// stream sends the headers at once, and then the tokens of each iteration.
func (a *API) stream(ctx context.Context, w http.ResponseWriter, box *mailbox, c *chunks, f fate) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	control := http.NewResponseController(w)
	// The connection serves other requests later. Not every writer has deadlines.
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	ok := control.Flush() == nil
	var words []uint16
	var out []byte
	for end := core.Unfinished; ok && end == core.Unfinished; {
		if e := a.await(ctx, box); e != nil {
			_, _ = w.Write(errorEvents(e))
			return
		}
		words, end = box.take(words)
		if f.breaksWithin(c.sent()+len(words), end) {
			send(w, control, c.append(out[:0], words, core.Unfinished))
			if f.cut {
				panic(http.ErrAbortHandler) // the server's way to cut a connection
			}
			_, _ = w.Write(errorEvents(failure(http.StatusInternalServerError, "the engine failed while generating (a simulated fault)")))
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

// await waits for tokens. An error means that none will come, or that nobody is
// there to read them.
func (a *API) await(ctx context.Context, box *mailbox) *apiError {
	select {
	case <-box.wake:
		return nil
	case <-ctx.Done():
	case <-a.driver.Ended:
	}
	return errNotRunning
}

// whole collects the answer and sends it as one JSON object.
func (a *API) whole(ctx context.Context, w http.ResponseWriter, box *mailbox, seq *core.Sequence, id string, d *dialect) *apiError {
	var words []uint16
	var thought, text []byte
	script, end := core.NewTranscript(seq), core.Unfinished
	for end == core.Unfinished {
		if e := a.await(ctx, box); e != nil {
			return e
		}
		words, end = box.take(words)
		for _, word := range words {
			word &^= joined
			if script.Reasons() {
				thought = script.Append(thought, word)
			} else {
				text = script.Append(text, word)
			}
		}
	}
	text = append(text, script.Rest()...)
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": end, "stop_reason": orNull(script.Found)}
	if d.thought == "" {
		choice["text"] = string(text)
	} else {
		choice["message"] = newMessage(seq, thought, text)
	}
	return writeJSON(w, http.StatusOK, map[string]any{
		"id": id, "object": d.object, "created": time.Now().Unix(), "model": a.modelID,
		"choices": []any{choice}, "usage": json.RawMessage(appendUsage(nil, seq, script.N)),
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

// mailbox holds the tokens of one request until its handler takes them. put never
// blocks, so a slow client delays only itself.
type mailbox struct {
	wake  chan struct{} // something was put
	clump *atomic.Int64 // tokens that wake the reader; 0 and 1: any

	mu    sync.Mutex
	words []uint16
	end   core.FinishReason
}

func newMailbox(clump *atomic.Int64) *mailbox {
	return &mailbox{wake: make(chan struct{}, 1), clump: clump}
}

// joined marks a word whose successor belongs in the same chunk: the engine generated
// both in one step.
const joined = 1 << 15

func (m *mailbox) put(words []uint16, end core.FinishReason) {
	m.mu.Lock()
	m.words = append(m.words, words...)
	for i := len(m.words) - len(words); i < len(m.words)-1; i++ {
		m.words[i] |= joined
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
