package load

import (
	"context"
	"time"

	"sonde/probe/api"
	"sonde/probe/measure"
)

// job is one request to make.
type job struct {
	ctx    context.Context
	intent time.Duration // the slot became free, or the schedule said so
	in     int           // tokens
	out    int
	long   bool
}

// request makes one request on a slot and files its record.
func (p *Pool) request(s *stream, j job) api.Result {
	made := p.opt.Prompts.Next(j.in)
	s.track.Begin(j.intent, j.long, made.Estimate())
	if made.MaxTokens > 0 {
		j.out = made.MaxTokens
	}
	call := api.Call{Text: made.Text, Messages: made.Messages, MaxTokens: j.out}
	res := p.opt.Doer.Do(j.ctx, call, s.track)
	res.ID, res.Slot, res.Long = p.nextID(), s.index, j.long
	res.Intent = j.intent
	res.AskedIn, res.AskedOut = made.Tokens, j.out
	s.track.End(res.Request)
	if res.Class == measure.OK && res.Source != measure.Chunks {
		p.opt.Prompts.Learn(made, res.InTokens)
	}
	return res
}

func (p *Pool) nextID() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids++
	return p.ids
}

// pause waits before a worker tries again; false if everything was aborted.
func (p *Pool) pause(ctx context.Context, d time.Duration) bool {
	p.retrying.Add(1)
	defer p.retrying.Add(-1)
	return sleepUntil(ctx, d)
}
