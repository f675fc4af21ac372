package load

import (
	"context"
	"time"

	"sonde/probe/api"
	"sonde/probe/arrivals"
	"sonde/probe/measure"
	"sonde/probe/prompt"
)

// job is one request to make.
type job struct {
	ctx    context.Context
	intent time.Duration // the slot became free, or the schedule said so
	in     int           // tokens
	out    int
	made   *prompt.Prompt // nil: it is made when the request begins
	blocks []uint64       // what the prompt consists of; nil: as the source has it
	turns  int            // of a conversation; below 2: the request stands alone
	long   bool
}

// claim takes one request from the budget. p.mu is held.
func (p *Pool) claim(d due) job {
	if p.budget > 0 {
		p.budget--
	}
	if d.In > 0 {
		return job{ctx: p.ctx, intent: d.At, in: d.In, out: d.Out, made: d.made, blocks: d.Blocks}
	}
	in, out := p.draw()
	return job{ctx: p.ctx, intent: d.At, in: in, out: out, turns: p.setting.Turns}
}

// lengthStream numbers the random stream of the lengths.
const lengthStream = pacerStream + 1

// draw gives the lengths of the next request. Long prompts of a distribution without an end are cut to
// what the model takes; a mean that is too long is not: the server's refusal says so. p.mu is held.
func (p *Pool) draw() (in, out int) {
	s := &p.setting
	in, out = s.InputShape.Draw(s.InputTokens, p.lengths), s.OutputShape.Draw(s.OutputTokens, p.lengths)
	if in <= s.InputTokens || p.opt.Room == nil {
		return in, out
	}
	if room, known := p.opt.Room(out); known && in > room {
		in = max(room, s.InputTokens)
		p.cutTo = max(p.cutTo, in)
	}
	return in, out
}

// request makes one request on a slot and files its record.
func (p *Pool) request(s *stream, j job) api.Result {
	if j.blocks != nil && j.made == nil {
		made := p.makePrompt(arrivals.Arrival{In: j.in, Blocks: j.blocks})
		j.made = &made
	}
	d := &s.dialogue
	if j.long {
		d = &dialogue{} // in no conversation
	}
	made := d.next(p.opt.Prompts, j)
	s.track.Begin(j.intent, j.long, made.Estimate())
	if made.MaxTokens > 0 {
		j.out = made.MaxTokens
	}
	call := api.Call{Text: made.Text, Messages: made.Messages, MaxTokens: j.out, KeepText: d.conversation != nil}
	res := p.opt.Doer.Do(j.ctx, call, s.track)
	res.ID, res.Slot, res.Long = uint64(p.ids.Add(1)), s.index, j.long
	res.Intent = j.intent
	res.RequestedIn, res.RequestedOut = made.Tokens, j.out
	d.ended(&res)
	s.track.End(res.Request)
	if res.Class == measure.OK && res.Source != measure.Chunks {
		p.opt.Prompts.Learn(made, res.InTokens)
	}
	return res
}

// pause waits before a stream tries again; false if everything was aborted.
func (p *Pool) pause(ctx context.Context, s *stream, d time.Duration) bool {
	p.mu.Lock()
	p.retryAt[s] = p.now() + d
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.retryAt, s)
	}()
	return sleepUntil(ctx, d)
}
