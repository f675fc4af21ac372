package core

import (
	"time"

	"sonde/probe/sim/faults"
)

// setFaults replaces the faults. They apply from the next iteration on. Withheld blocks
// count as used at once, but no sequence loses its blocks before it needs more.
func (c *engine) setFaults(f faults.Faults) {
	c.faults = f
	c.gpu = c.Machine
	if f.Throttle > 0 {
		c.gpu = c.Machine.at(f.Throttle)
	}
	c.kv.withhold(f.KV)
	if c.pool != nil { // its GPUs are of the same kind, in the same room
		c.pool.engine.setFaults(faults.Faults{Slow: f.Slow, Throttle: f.Throttle})
	}
}

// stallAt is the length of a stall in an iteration that starts now.
func (c *engine) stallAt(now time.Duration) time.Duration {
	pause := c.pause
	c.pause = 0
	if f := &c.faults; f.Stall > 0 && f.StallEvery > 0 && now-c.stalled >= f.StallEvery {
		pause += f.Stall
	}
	if pause > 0 {
		c.stalled = now + pause
	}
	return pause
}

// SetFaults implements faults.Engine.
func (d *Driver) SetFaults(f faults.Faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.engine.setFaults(f)
	d.wake() // KV blocks may have become free
}

// StandStill implements faults.Engine. Calls add up.
func (d *Driver) StandStill(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.engine.pause += by
}

// Room implements faults.Engine.
func (d *Driver) Room() faults.Room { return d.engine.capacity() }

func (c *engine) capacity() faults.Room {
	return faults.Room{Sequences: c.MaxSeqs, KVTokens: c.KVTokens(), ModelTokens: c.MaxModelLen, Seed: c.Seed}
}

// Inject implements faults.Engine.
func (d *Driver) Inject(prompt []uint32, answerTokens int, done func()) (hangUp func()) {
	s := NewSequence(Request{Prompt: prompt, MaxTokens: answerTokens, IgnoreEOS: true}, &d.engine.Setup)
	s.Sink = func(_ []uint16, end FinishReason) {
		if end != Unfinished {
			done()
		}
	}
	d.Submit(s)
	return func() { d.Abort(s) }
}

// ServiceTime implements faults.Engine: it runs the requests on another engine of the
// same kind in virtual time.
func (d *Driver) ServiceTime(n int, next func() (prompt []uint32, answerTokens int)) time.Duration {
	d.mu.Lock()
	healthy := d.engine.Setup
	d.mu.Unlock()
	return serviceTime(healthy, n, next)
}

func serviceTime(healthy Setup, n int, next func() (prompt []uint32, answerTokens int)) time.Duration {
	healthy.Faults = faults.Faults{}
	engine := newEngine(healthy)
	for range n {
		prompt, answer := next()
		engine.submit(NewSequence(Request{Prompt: prompt, MaxTokens: answer, IgnoreEOS: true}, &healthy), 0)
	}
	now := time.Duration(0)
	for {
		it, ok := engine.begin(now)
		if !ok {
			return now / time.Duration(max(1, n))
		}
		now = it.End
		engine.finish(now)
	}
}

// Scheduling reports whether prompts are chunked and prefixes cached.
func (d *Driver) Scheduling() (chunked, prefixes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.engine.prefilling()
	return !c.Unchunked, c.kv.prefixes
}

// SetScheduling takes effect from the next iteration on: for blocks that fill up and
// prompts that are admitted then. Shared blocks stay shared.
func (d *Driver) SetScheduling(chunked, prefixes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.engine.prefilling()
	c.Unchunked = !chunked
	c.kv.cachePrefixes(prefixes)
}

// prefilling is the half that reads prompts.
func (c *engine) prefilling() *engine {
	if c.pool != nil {
		return c.pool.engine
	}
	return c
}
