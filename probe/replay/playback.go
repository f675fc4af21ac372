package replay

import (
	"time"

	"sonde/probe/frame"
)

// Pause stops the playback or lets it go on.
func (p *Player) Pause(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock.change(p.clock.speed, on)
}

// SetSpeed is how many seconds of the recording pass in one second.
func (p *Player) SetSpeed(times float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock.change(withinRange(times), p.clock.paused)
}

// Jump moves by so much. A short way ahead the Frames in between are handed out
// at once, while they can be read; any other goal is reached anew, with the
// Frames that lead up to it.
func (p *Player) Jump(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, last := p.file.Span()
	now := min(p.clock.now(), last)
	goal := min(max(now+by, first), last)
	if p.state.Err != nil && goal > p.state.At {
		return // what lies ahead cannot be read
	}
	p.clock.hold(goal)
	if goal >= p.state.At && goal-p.state.At <= lead {
		p.state.Seeking = goal > p.state.At
		p.nudge()
		return
	}
	p.goal, p.queue, p.eof = &goal, nil, false
	p.state.Epoch++
	p.state.At, p.state.Seeking, p.state.Ended, p.state.Err = goal, true, false, nil
	p.nudge()
}

// State reports where the playback is.
func (p *Player) State() frame.PlaybackState {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state
	s.Speed, s.Paused = p.clock.speed, p.clock.paused
	return s
}

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
