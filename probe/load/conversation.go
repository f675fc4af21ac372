package load

import (
	"context"
	"math/rand/v2"
	"time"

	"sonde/probe/api"
	"sonde/probe/measure"
	"sonde/probe/prompt"
)

// dialogue is what a stream remembers between the turns of a conversation. Only the stream's
// own goroutine uses it.
type dialogue struct {
	conversation *prompt.Conversation // nil: none goes on
	id           uint64               // of its first request
	tokens       int                  // of the newest turn, prompt and answer, as the server counted them; 0: unknown
	random       *rand.Rand           // of the think times
}

// next is the prompt of a stream's next request: the next turn of its conversation, or one that stands alone.
func (d *dialogue) next(source prompt.Source, j job) prompt.Prompt {
	if j.made != nil {
		d.conversation = nil
		return *j.made
	}
	if j.turns < 2 {
		d.conversation = nil
		return source.Next(j.in)
	}
	if d.conversation == nil {
		d.conversation = prompt.NewConversation(source, j.turns)
	}
	return d.conversation.Next(j.in)
}

// ended names the turn in the record of a request that ended, and takes the answer into the
// conversation. One that failed ends the conversation: what the server made of it is unknown.
func (d *dialogue) ended(res *api.Result) {
	c := d.conversation
	if c == nil {
		return
	}
	if res.Turn = c.Turn(); res.Turn == 1 {
		d.id, d.tokens = res.ID, 0
	}
	res.Conversation, res.HistoryTokens = d.id, d.tokens
	if d.tokens = 0; res.InTokens > 0 {
		d.tokens = res.InTokens + res.OutTokens - res.ReasoningTokens
	}
	if res.Class != measure.OK || !c.Answered(res.Text, res.InTokens, res.OutTokens-res.ReasoningTokens) {
		d.conversation = nil
	}
}

// thinkStream numbers the random stream of the first slot's think times; those of other slots follow.
const thinkStream = 1 << 62

// thinkJitter is how far a think time is from the mean at most, as a share: streams that began together
// do not march in step.
const thinkJitter = 0.2

// thinkTime draws the pause before the next turn.
func (d *dialogue) thinkTime(mean time.Duration, seed uint64, slot int) time.Duration {
	if d.random == nil {
		d.random = rand.New(rand.NewPCG(seed, thinkStream+uint64(slot)))
	}
	return time.Duration(float64(mean) * (1 - thinkJitter + 2*thinkJitter*d.random.Float64()))
}

// think waits as the user of a conversation does before saying more. It ends at once when the load
// changes so that there is nothing to wait for: there is no think time, or no room for the stream, which
// then leaves in the same step: of many that think only as many as are too many.
func (p *Pool) think(ctx context.Context, s *stream) (left bool) {
	if s.dialogue.conversation == nil {
		return false
	}
	p.mu.Lock()
	mean, changed := p.setting.Think, p.changed
	p.mu.Unlock()
	if mean <= 0 {
		return false
	}
	s.track.Think(true)
	defer func() {
		if !left {
			s.track.Think(false)
		}
	}()
	timer := time.NewTimer(s.dialogue.thinkTime(mean, p.opt.Seed, s.index))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return false
		case <-changed:
		}
		p.mu.Lock()
		if left = p.tooMany(); left {
			s.track.Think(false)
			p.leave(s)
		}
		over := left || p.setting.Think <= 0 || p.setting.Turns < 2
		changed = p.changed
		p.mu.Unlock()
		if over {
			return left
		}
	}
}
