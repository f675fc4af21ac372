package level

import (
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// conversation adds the requests of one: turn k has a prompt of 100·k tokens, of which the server
// has cached so many, and a first token after 10·k ms.
func conversation(t *Tally, counted bool, cached ...int) {
	for i, n := range cached {
		k := i + 1
		t.AddRequest(&measure.Request{
			Turn: k, Conversation: 1, HistoryTokens: 100 * i, Streamed: true, Chunks: 1, OutTokens: 1,
			First: time.Duration(10*k) * time.Millisecond, Last: time.Second, End: time.Second,
			InTokens: 100 * k, CachedTokens: n, CachedCounted: counted && n > 0, Source: measure.Usage,
		}, true)
	}
}

func TestTurnsHaveRows(t *testing.T) {
	tally := NewTally(frame.Load{Turns: 3}, nil)
	conversation(tally, true, 0, 96, 192)
	conversation(tally, true, 0, 0, 192)
	tally.AddRequest(&measure.Request{Turn: 3, Class: measure.HTTP5xx, Chunks: 1}, true) // no failure has a latency
	rows := tally.Level().Turns
	if len(rows) != 3 {
		t.Fatalf("%d rows, want 3", len(rows))
	}
	for i, want := range []Turn{
		{Turn: 1, Input: opt.Of(100), Cached: opt.Of(0)},
		{Turn: 2, Input: opt.Of(200), Cached: opt.Of(48), Hits: opt.Of(0.5)}, // a miss is not counted by this server, and counts
		{Turn: 3, Input: opt.Of(300), Cached: opt.Of(192), Hits: opt.Of(1)},
	} {
		r := rows[i]
		if r.N != 2 || r.Later || r.TTFT.N != 2 || r.TTFT.P50 != float64(10*want.Turn) {
			t.Errorf("turn %d: n %d, later %v, TTFT %+v", i+1, r.N, r.Later, r.TTFT)
		}
		if r.Turn != want.Turn || r.Input != want.Input || r.Cached != want.Cached || r.Hits != want.Hits {
			t.Errorf("turn %d: %+v, want %+v", i+1, r, want)
		}
	}
	if share := rows[2].CachedShare(); share != opt.Of(0.64) {
		t.Errorf("turn 3: %v of the prompts were cached, want 0.64", share)
	}
}

func TestTurnsOfAServerThatDoesNotCountItsCache(t *testing.T) {
	tally := NewTally(frame.Load{Turns: 2}, nil)
	conversation(tally, false, 0, 0)
	if r := tally.Level().Turns[1]; r.Cached.OK || r.Hits.OK || r.CachedShare().OK || r.Input.V != 200 {
		t.Errorf("turn 2: %+v, want unknown shares of 200 tokens", r)
	}
}

func TestLateTurnsShareTheLastRow(t *testing.T) {
	tally := NewTally(frame.Load{Turns: 40}, nil)
	conversation(tally, true, make([]int, 40)...)
	rows := tally.Level().Turns
	if len(rows) != MostTurns {
		t.Fatalf("%d rows, want %d", len(rows), MostTurns)
	}
	// Turns 16 to 40: 25 requests with prompts of 1,600 to 4,000 tokens.
	if r := rows[MostTurns-1]; r.N != 25 || !r.Later || r.Input != opt.Of(2800) || r.TTFT.Max != 400 {
		t.Errorf("the last row: %+v", r)
	}
	if rows[MostTurns-2].Later {
		t.Error("the row before the last is of later turns too")
	}
	sixteen := NewTally(frame.Load{Turns: 16}, nil)
	conversation(sixteen, true, make([]int, 16)...)
	if sixteen.Level().Turns[MostTurns-1].Later {
		t.Error("of 16 turns the last row is of the sixteenth alone")
	}
}

func TestWithoutConversationsThereAreNoTurns(t *testing.T) {
	tally := NewTally(frame.Load{}, nil)
	tally.AddRequest(&measure.Request{InTokens: 5, Chunks: 1}, true)
	if rows := tally.Level().Turns; rows != nil {
		t.Errorf("%+v", rows)
	}
}
