package sim

import "time"

// conditions are what makes a sound engine slow or short of memory. They may be
// replaced between any two iterations (core.setConditions); an iteration under way
// ends as it was planned. The zero value is an engine without trouble.
type conditions struct {
	// slow stretches every iteration: 3 takes three times as long. The time is lost
	// on the host, so that the GPU idles in it. 0 and 1 are full speed.
	slow float64
	// clock is the SM clock as a share of the full one, as a power or thermal limit
	// brings it down. 0 and 1 are the full clock.
	clock float64
	// kvWithheld is the share of KV blocks that somebody else keeps, 0 to 1.
	kvWithheld float64
	// stall is added to one iteration each time stallEvery has passed since the
	// last stall ended. 0 is never.
	stall, stallEvery time.Duration
}

// setConditions replaces the conditions. Withheld blocks count as used at once, but
// nobody loses what it holds before it needs more.
func (c *core) setConditions(now conditions) {
	c.conditions = now
	c.gpu = c.machine.at(or(now.clock, 1))
	c.kv.withhold(now.kvWithheld)
	if c.pool != nil { // its GPUs are of the same kind, in the same room
		c.pool.core.setConditions(conditions{slow: now.slow, clock: now.clock})
	}
}

// standStill makes the next iteration longer by d, once. Calls add up.
func (c *core) standStill(d time.Duration) { c.pause += d }

// at is the machine with its SM clock at a share of the full one. The arithmetic
// slows down with it. Memory has a clock of its own, but SMs below about 0.6 of
// theirs no longer ask for all that it could give.
func (m machine) at(clock float64) machine {
	const clockForBandwidth = 0.6
	m.clock = clock
	m.flops *= clock
	m.flops8 *= clock
	m.bandwidthShare *= min(1, clock/clockForBandwidth)
	return m
}

// slowdown is what an iteration of that length loses to the host.
func (c *conditions) slowdown(took time.Duration) time.Duration {
	return time.Duration(float64(took) * (max(1, c.slow) - 1))
}

// stallAt is how much longer an iteration that starts now takes because the engine
// stands still.
func (c *core) stallAt(now time.Duration) time.Duration {
	pause := c.pause
	c.pause = 0
	if every := c.conditions; every.stall > 0 && now-c.stalled >= every.stallEvery {
		pause += every.stall
	}
	if pause > 0 {
		c.stalled = now + pause
	}
	return pause
}
