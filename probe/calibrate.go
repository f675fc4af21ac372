package probe

import (
	"context"
	"fmt"
	"time"

	"sonde/probe/api"
	"sonde/probe/engine/scrape"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/prompt"
)

const (
	calibrations    = 4 // at most
	calibrationOut  = 1 // token, where the question is a request
	calibrationWait = 30 * time.Second
)

// Calibrate finds out how many words make the requested prompt length: from the
// engine's tokenizer, or, from a known engine without one, by the usage of a few
// requests of one output token, which are excluded from results and mentioned in a note. An
// unknown server is sent nothing: its first answers show it. With a fixed
// seed nothing more is learned after this, so that the bodies of a run repeat
// exactly. It cannot fail.
func (s *Session) Calibrate(ctx context.Context, fixedSeed bool) {
	synthetic, ok := s.opt.Prompts.(*prompt.Synthetic)
	if !ok || s.opt.Watch || s.opt.Remote != nil { // workers fit their own
		return
	}
	ctx, cancel := context.WithTimeout(ctx, calibrationWait)
	defer cancel()
	if !s.opt.Load.IsIdle() { // a prompt that nobody waits for is fitted in silence
		s.enter(frame.StageFitting)
		defer s.enter(frame.StageLoad)
	}
	s.fitLength(ctx, synthetic)
	if fixedSeed {
		synthetic.Freeze()
	}
}

func (s *Session) fitLength(ctx context.Context, synthetic *prompt.Synthetic) {
	conn := s.conn.Load()
	requests := 0
	l := s.Load()
	for i, requested := range l.Input().Typical() {
		if room, known := s.promptRoom(l.OutputTokens); known && i > 0 {
			requested = min(requested, max(room, minTokens))
		}
		requests += s.fitOne(ctx, conn, synthetic, requested, i == 0)
	}
	if tokens, ok := synthetic.Nearest(l.InputTokens); ok && max(tokens-l.InputTokens, l.InputTokens-tokens) > 1 {
		s.Note(fmt.Sprintf("no prompt of %d tokens could be made: the nearest that the server counted has %d", l.InputTokens, tokens))
	}
	if requests > 0 {
		conn.client.DropIdle() // the run's first requests connect for themselves
		s.Note(calibrated(requests))
	}
}

// fitOne fits one length, and returns how many requests that took.
func (s *Session) fitOne(ctx context.Context, conn *connection, synthetic *prompt.Synthetic, requested int, first bool) (requests int) {
	tolerance := min(1, requested/1000) // tokens
	target := requested
	for n := range calibrations {
		p, more := synthetic.Trial(target, tolerance)
		if !more {
			break
		}
		tokens, sent, tooLong := s.countTokens(ctx, conn, p, first && n == 0)
		requests += sent
		if tooLong { // near the end of the context: a shorter one shows how long it was
			target = max(1, target/2)
			continue
		}
		if tokens == 0 {
			break
		}
		synthetic.Learn(p, tokens)
		target = requested
	}
	return requests
}

func calibrated(requests int) string {
	if requests == 1 {
		return "1 calibration request fitted the prompt length: excluded from results"
	}
	return fmt.Sprintf("%d calibration requests fitted the prompt length: excluded from results", requests)
}

// countTokens asks the tokenizer or, without one, the server by a request, with a note
// before the first. tokens is 0 if nobody counts; sent counts requests; tooLong is a refusal.
func (s *Session) countTokens(ctx context.Context, conn *connection, p prompt.Prompt, first bool) (tokens, sent int, tooLong bool) {
	id := conn.engine.Latest().Identity
	for {
		if tokens, ok := scrape.CountTokens(ctx, s.engineConfig(), id, p.Text, s.addr.Kind == api.Chat); ok {
			return tokens, 0, false
		}
		if id.Kind == "" || s.opt.Load.IsIdle() {
			return 0, 0, false
		}
		if first { // on a slow server this takes a while
			s.Note(fmt.Sprintf("the load begins after up to %d requests of one token, which fit the prompt length", calibrations))
			first = false
		}
		res := conn.client.Do(ctx, api.Call{Text: p.Text, MaxTokens: calibrationOut}, unseen{})
		if res.Class != measure.Loading {
			return res.InTokens, 1, res.Class == measure.ContextLength
		}
		if awaitLoading(ctx) != nil { // a model list that answers does not mean that the model is loaded
			return 0, 0, false
		}
	}
}

// unseen observes a request that is excluded from results.
type unseen struct{}

func (unseen) Sent(time.Duration) {}

func (unseen) Token(_, _ time.Duration, _ int) {}
