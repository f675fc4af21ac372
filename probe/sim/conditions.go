package sim

import (
	"time"

	"sonde/probe/sim/faults"
)

// setFaults replaces the faults. Those that concern the engine itself count from the
// next iteration on; one under way ends as it was planned. Withheld blocks count as used
// at once, but no sequence loses the blocks it holds before it needs more.
func (c *core) setFaults(f faults.Faults) {
	c.faults = f
	c.gpu = c.machine
	if f.Throttle > 0 {
		c.gpu = c.machine.at(f.Throttle)
	}
	c.kv.withhold(f.KV)
	if c.pool != nil { // its GPUs are of the same kind, in the same room
		c.pool.core.setFaults(faults.Faults{Slow: f.Slow, Throttle: f.Throttle})
	}
}

// at is the machine with its SM clock at a share of the full one. The arithmetic
// slows down with it. Memory has a clock of its own, but below about 0.6 of their clock
// SMs no longer request all that it could deliver.
func (m machine) at(clock float64) machine {
	const clockForBandwidth = 0.6
	m.clock = clock
	m.flops *= clock
	m.flops8 *= clock
	m.bandwidthShare *= min(1, clock/clockForBandwidth)
	return m
}

// slowdown is what an iteration of that length loses to a slow host.
func (c *core) slowdown(took time.Duration) time.Duration {
	return time.Duration(float64(took) * (max(1, c.faults.Slow) - 1))
}

// stallAt is how much longer an iteration that starts now takes because the engine
// stops.
func (c *core) stallAt(now time.Duration) time.Duration {
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

// The driver is the engine of a faults.Timetable.

// SetFaults replaces the faults from the next iteration on.
func (d *driver) SetFaults(f faults.Faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.setFaults(f)
	d.wake() // KV blocks may have become free
}

// StandStill makes the next iteration longer, once. Calls add up.
func (d *driver) StandStill(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.pause += by
}

// Room is what fits into the engine.
func (d *driver) Room() faults.Room { return d.core.capacity() }

func (c *core) capacity() faults.Room {
	return faults.Room{Sequences: c.MaxSeqs, KVTokens: c.kvTokens(), ModelTokens: c.MaxModelLen, Seed: c.Seed}
}

// Ask submits a request for exactly that many tokens, and calls done when it has them.
func (d *driver) Ask(prompt []uint32, answerTokens int, done func()) (hangUp func()) {
	s := newSequence(ask{prompt: prompt, maxTokens: answerTokens, ignoreEOS: true}, &d.core.setup)
	s.sink = func(_ []uint16, end finish) {
		if end != finishNone {
			done()
		}
	}
	d.submit(s)
	return func() { d.abort(s) }
}

// ServiceTime runs n requests on another engine of the same kind, without faults and in
// virtual time, and returns the mean time per request.
func (d *driver) ServiceTime(n int, next func() (prompt []uint32, answerTokens int)) time.Duration {
	d.mu.Lock()
	healthy := d.core.setup
	d.mu.Unlock()
	return serviceTime(healthy, n, next)
}

func serviceTime(healthy setup, n int, next func() (prompt []uint32, answerTokens int)) time.Duration {
	healthy.Faults = faults.Faults{}
	engine := newCore(healthy)
	for range n {
		prompt, answer := next()
		engine.submit(newSequence(ask{prompt: prompt, maxTokens: answer, ignoreEOS: true}, &healthy), 0)
	}
	now := time.Duration(0)
	for {
		it, ok := engine.begin(now)
		if !ok {
			return now / time.Duration(max(1, n))
		}
		now = it.end
		engine.finish(now)
	}
}

// Scheduling reports whether prompts are chunked and prefixes cached.
func (d *driver) Scheduling() (chunked, prefixes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.core.Unchunked, d.core.kv.prefixes
}

// SetChunked takes effect from the next iteration on.
func (d *driver) SetChunked(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.Unchunked = !on
	if d.core.pool != nil {
		d.core.pool.core.Unchunked = !on
	}
}

// SetPrefixCache concerns blocks that fill up and prompts that are admitted from now
// on; shared blocks stay shared.
func (d *driver) SetPrefixCache(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.kv.cachePrefixes(on)
	if d.core.pool != nil {
		d.core.pool.core.kv.cachePrefixes(on)
	}
}
