package sim

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// writeTimeout is how long a client may refuse to read before it is given up.
const writeTimeout = time.Minute

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
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

func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
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
func (s *Server) answer(w http.ResponseWriter, r *http.Request, b *requestBody, prompt []uint32, d dialect) {
	a, e := b.ask(prompt, s.setup.MaxModelLen, d.maxTokens)
	if e != nil {
		e.write(w)
		return
	}
	if d.thought != "" {
		a.reasoning = Reasoning(s.setup.Reasoning)
	}
	number := s.requests.Add(1)
	fate := fateOf(s.Faults(), number, s.setup.Seed)
	if fate.refusal != nil {
		fate.refusal.write(w)
		return
	}
	seq, box := newSequence(a, &s.setup), newMailbox(&s.Clump)
	seq.sink = box.put
	if !s.driver.submit(seq) {
		errNotRunning.write(w)
		return
	}
	defer s.driver.abort(seq)
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
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, box *mailbox, c *chunks, f fate) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	control := http.NewResponseController(w)
	// The connection goes on to other requests. Not every writer has deadlines.
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	ok := control.Flush() == nil
	var words []uint16
	var out []byte
	for end := finishNone; ok && end == finishNone; {
		if e := s.await(ctx, box); e != nil {
			_, _ = w.Write(errorEvents(e))
			return
		}
		words, end = box.take(words)
		if f.breaksWithin(c.sent()+len(words), end) {
			send(w, control, c.append(out[:0], words, finishNone))
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
func (s *Server) await(ctx context.Context, box *mailbox) *apiError {
	select {
	case <-box.wake:
		return nil
	case <-ctx.Done():
	case <-s.driver.ended:
	}
	return errNotRunning
}
