package probe

import (
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/frame"
)

// Whatever a reader asks of the Controls of a session that only watches, nothing is sent, and
// each refusal says the way out.
func TestWatchingSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, conn, server := offline(t, 8)
		c.opt.Watch = true
		c.conn.Store(conn)
		c.Begin()
		commands := map[string]func(){
			"SetLoad":    func() { c.SetLoad(frame.Load{Concurrency: 2, InputTokens: 8, OutputTokens: 8, Prefix: "unique"}) },
			"ChangeLoad": func() { c.ChangeLoad(func(l *frame.Load) { l.Concurrency++ }) },
			"a rate":     func() { c.ChangeLoad(func(l *frame.Load) { l.Concurrency, l.Rate = 4, 10 }) },
			"FireLong":   c.FireLong,
		}
		for name, send := range commands {
			send()
			time.Sleep(time.Second)
			load, events, _ := c.carryOut(c.now(), c.now())
			if !load.IsIdle() || server.requests.Load() != 0 {
				t.Errorf("%s: load %+v, %d requests", name, load, server.requests.Load())
			}
			if len(events) != 1 || events[0].Text != frame.Watching {
				t.Errorf("%s: %+v, want one event with the way out", name, events)
			}
		}
		c.pool.Close()
	})
}
