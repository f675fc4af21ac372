package sim

import (
	"math/rand/v2"
	"time"
)

// crowd are other clients of the engine. They are inside it: their requests go
// straight into its queue, so that somebody outside sees only what they do to the
// engine. The lengths of a crowd follow from the machine, so that an incident is one
// on any of them.
type crowd struct {
	clients   int           // each sends its next request when it has its answer; 0: requests come on a schedule …
	every     time.Duration // … this far apart on average …
	regularly bool          // … or exactly
	prompt    int           // tokens
	answer    int           // tokens, on average
}

// request makes the next request. No two prompts are alike, and answers have half to
// one and a half times the length, so that clients do not march in step.
func (c *crowd) request(random *rand.Rand) ask {
	length := c.answer/2 + random.IntN(c.answer+1)
	a := ask{prompt: make([]uint32, c.prompt), maxTokens: max(1, length), ignoreEOS: true}
	for i := range a.prompt {
		a.prompt[i] = random.Uint32()
	}
	return a
}

// wait is the time to the next request of a crowd that comes on a schedule.
func (c *crowd) wait(random *rand.Rand) time.Duration {
	if c.regularly {
		return c.every
	}
	return time.Duration(random.ExpFloat64() * float64(c.every))
}

// overloadCrowd asks for half as much again as the engine can do.
func overloadCrowd(s *setup) crowd {
	c := crowd{prompt: min(512, s.maxModelLen/4), answer: min(128, s.maxModelLen/4)}
	c.every = max(time.Millisecond, time.Duration(float64(serviceTime(s, c))/1.5))
	return c
}

// serviceTime is the time per request when the engine is full: what two batches take
// one after the other, measured on an engine of the same kind in virtual time.
func serviceTime(s *setup, c crowd) time.Duration {
	healthy := *s
	healthy.faults = Faults{}
	engine, random := newCore(healthy), rand.New(rand.NewPCG(1, 1))
	n := 2 * min(s.maxSeqs, max(1, s.kvTokens()/(c.prompt+c.answer)), 512)
	for range n {
		engine.submit(newSequence(c.request(random), &healthy), 0)
	}
	now := time.Duration(0)
	for {
		it, ok := engine.begin(now)
		if !ok {
			return now / time.Duration(n)
		}
		now = it.end
		engine.finish(now)
	}
}

// longPromptCrowd sends a prompt of 8,192 tokens, or what fits, every five seconds.
func longPromptCrowd(s *setup) crowd {
	long := min(8192, s.maxModelLen/2, s.kvTokens()/2)
	return crowd{every: 5 * time.Second, regularly: true, prompt: long, answer: 16}
}

// growingCrowd fits into the KV cache when its answers begin, and needs two fifths
// more than there is when they are half done.
func growingCrowd(s *setup) crowd {
	c := crowd{answer: min(1024, s.maxModelLen/4)}
	c.clients = max(2, min(s.maxSeqs*3/4, s.kvTokens()*5/2/(c.answer+128)))
	c.prompt = min(max(16, s.kvTokens()*7/5/c.clients-c.answer/2), s.maxModelLen-c.answer*3/2)
	return c
}

// tenantCrowd keeps half of the batch busy, or three fifths of the KV cache if that is
// less, with prompts that are long enough to be felt.
func tenantCrowd(s *setup) crowd {
	c := crowd{prompt: min(768, s.maxModelLen/2), answer: min(256, s.maxModelLen/4)}
	c.clients = max(2, min(s.maxSeqs/2, s.kvTokens()*3/5/(c.prompt+c.answer)))
	return c
}
