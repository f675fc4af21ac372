package replay

import "time"

// clock is the time of the recording: it stood at at when the wall's monotonic
// clock said since, and runs speed times as fast unless it is paused.
type clock struct {
	at     time.Duration
	since  time.Time
	speed  float64
	paused bool
}

func (c *clock) now() time.Duration {
	if c.paused {
		return c.at
	}
	return c.at + time.Duration(float64(time.Since(c.since))*c.speed)
}

// hold sets the clock.
func (c *clock) hold(at time.Duration) { c.at, c.since = at, time.Now() }

// change changes how it runs from now on.
func (c *clock) change(speed float64, paused bool) {
	c.hold(c.now())
	c.speed, c.paused = speed, paused
}
