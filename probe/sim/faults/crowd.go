package faults

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// crowd are other clients of the engine. They are inside it: their requests go
// straight into its queue, so that an outside observer sees only what they do to the
// engine. The lengths of a crowd follow from the machine, so that an incident is one
// on any of them.
type crowd struct {
	clients   int           // each sends its next request when it has its answer; 0: requests come on a schedule …
	every     time.Duration // … this far apart on average …
	regularly bool          // … or exactly
	prompt    int           // tokens
	answer    int           // tokens, on average

	engine Engine
	random *rand.Rand
	news   func() // called when a request was answered; must not block

	arrived  bool
	next     time.Duration // request on the schedule
	sent     int
	present  sync.Map     // hang up, by the number of the request: func()
	inFlight atomic.Int64 // requests without an answer
}

// request makes the next request. No two prompts are alike, and answers have half to
// one and a half times the length, so that clients do not march in step.
func (c *crowd) request() (prompt []uint32, answer int) {
	answer = max(1, c.answer/2+c.random.IntN(c.answer+1))
	prompt = make([]uint32, c.prompt)
	for i := range prompt {
		prompt[i] = c.random.Uint32()
	}
	return prompt, answer
}

// advance sends the requests that are due by now, and returns when the next one is.
// The crowd arrived at the instant from. A nil crowd has none.
func (c *crowd) advance(now, from time.Duration) (next time.Duration) {
	if c == nil {
		return Forever
	}
	if !c.arrived {
		c.arrived, c.next = true, from
	}
	if c.clients > 0 {
		for int(c.inFlight.Load()) < c.clients {
			c.send()
		}
		return Forever
	}
	for ; c.next <= now; c.next += c.wait() {
		c.send()
	}
	return c.next
}

func (c *crowd) send() {
	c.sent++
	n := c.sent
	prompt, answer := c.request()
	c.inFlight.Add(1)
	hangUp := c.engine.Inject(prompt, answer, func() {
		c.inFlight.Add(-1) // before it is gone, for leave
		c.present.Delete(n)
		c.news()
	})
	c.present.Store(n, hangUp)
}

// wait is the time to the next request of a crowd that comes on a schedule.
func (c *crowd) wait() time.Duration {
	if c.regularly {
		return c.every
	}
	return time.Duration(c.random.ExpFloat64() * float64(c.every))
}

// leave makes all clients hang up.
func (c *crowd) leave() {
	if c == nil {
		return
	}
	c.present.Range(func(n, hangUp any) bool {
		hangUp.(func())()
		return true
	})
	c.present.Clear()
	c.inFlight.Store(0)
	c.arrived = false
}

// overload requests half as much again as the engine can do. What it can do is the time
// per request of two full batches, one after the other.
func overload(e Engine) *crowd {
	r := e.Room()
	c := &crowd{prompt: min(512, r.ModelTokens/4), answer: min(128, r.ModelTokens/4), random: rand.New(rand.NewPCG(1, 1))}
	two := 2 * min(r.Sequences, max(1, r.KVTokens/(c.prompt+c.answer)), 512)
	c.every = max(time.Millisecond, time.Duration(float64(e.ServiceTime(two, c.request))/1.5))
	return c
}

// longPrompts sends a prompt of 8,192 tokens, or what fits, every five seconds.
func longPrompts(e Engine) *crowd {
	r := e.Room()
	return &crowd{every: 5 * time.Second, regularly: true, prompt: min(8192, r.ModelTokens/2, r.KVTokens/2), answer: 16}
}

// growingAnswers fit into the KV cache when they begin, and need two fifths more than
// there is when they are half done.
func growingAnswers(e Engine) *crowd {
	r := e.Room()
	c := &crowd{answer: min(1024, r.ModelTokens/4)}
	c.clients = max(2, min(r.Sequences*3/4, r.KVTokens*5/2/(c.answer+128)))
	c.prompt = min(max(16, r.KVTokens*7/5/c.clients-c.answer/2), r.ModelTokens-c.answer*3/2)
	return c
}

// tenant keeps half of the batch busy, or three fifths of the KV cache if that is
// less, with prompts long enough to be noticed.
func tenant(e Engine) *crowd {
	r := e.Room()
	c := &crowd{prompt: min(768, r.ModelTokens/2), answer: min(256, r.ModelTokens/4)}
	c.clients = max(2, min(r.Sequences/2, r.KVTokens*3/5/(c.prompt+c.answer)))
	return c
}
