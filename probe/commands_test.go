package probe

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/api"
	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/load"
	"sonde/probe/prompt"
)

// counting is a server that answers at once, and counts.
type counting struct{ requests atomic.Int64 }

func (c *counting) Do(context.Context, api.Call, api.Observer) api.Result {
	c.requests.Add(1)
	return api.Result{}
}

// offline are the commands of a Session that is not connected yet, and what Connect
// will make.
func offline(t *testing.T, most int) (*commands, *connection, *counting) {
	t.Helper()
	prompts, err := prompt.Open("", prompt.Unique, 1)
	if err != nil {
		t.Fatal(err)
	}
	epoch := time.Now()
	collector := collect.NewCollector(func() (int, time.Duration) { return 0, 0 })
	opt := Options{Prompts: prompts, Prefix: "unique", MaxConcurrency: most, Load: frame.Load{Concurrency: 2, InputTokens: 8, OutputTokens: 8, Prefix: "unique"}}
	c := newCommands(opt, func() time.Duration { return time.Since(epoch) }, collector, &longWatch{})
	server := &counting{}
	c.pool = load.New(load.Options{Doer: server, Prompts: prompts, NewTrack: collector.NewTrack, Epoch: epoch, Fail: func(err error) { t.Error(err) }})
	return c, &connection{engine: &chosenFrom{}}, server
}

// A budget that is set before the Session is connected holds afterwards.
func TestBudgetBeforeConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, conn, server := offline(t, 8)
		c.SetBudget(3)
		c.SetRamp(time.Second)
		c.Abort()
		c.SetLoad(frame.Load{Concurrency: 2, InputTokens: 8, OutputTokens: 8, Prefix: "unique"})
		synctest.Wait()
		if got := server.requests.Load(); got != 0 {
			t.Errorf("%d requests were sent before there was a connection", got)
		}
		c.conn.Store(conn)
		c.Begin()
		synctest.Wait()
		if got := server.requests.Load(); got != 3 {
			t.Errorf("%d requests were sent, want the 3 of the budget", got)
		}
		c.pool.Close()
	})
}

// Every change counts, though many are made at once: 8 × 50 times one token more.
func TestChangesAreNotLost(t *testing.T) {
	c, _, _ := offline(t, 8)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				c.ChangeLoad(func(l *frame.Load) { l.InputTokens++ })
			}
		})
	}
	group.Wait()
	if got := c.Load().InputTokens; got != 8+8*50 {
		t.Errorf("%d tokens are requested, want 408", got)
	}
}

// Whoever stops the load while others change it, what is requested and what the pool
// does are the same in the end.
func TestLoadAndPoolNeverPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, conn, server := offline(t, 64)
		c.SetBudget(0)
		c.conn.Store(conn)
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				for n := range 50 {
					c.ChangeLoad(func(l *frame.Load) { l.Concurrency = 1 + (i+n)%64 })
					if n%7 == 0 {
						c.stopLoad()
					}
				}
			})
		}
		group.Wait()
		c.stopLoad()
		c.SetBudget(10)
		synctest.Wait()
		if l := c.Load(); l.Concurrency != 0 || server.requests.Load() != 0 {
			t.Errorf("%+v is requested, %d requests were sent, want none", l, server.requests.Load())
		}
		c.pool.Close()
	})
}
