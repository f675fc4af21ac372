package diagnose

import (
	"strings"
	"testing"
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// talks is one Frame of a load of conversations in which requests of four turns ended, five of each.
// Turn k has a prompt of 1500·k tokens, and a TTFT of ttft(k) ms; the server found so much of the
// 1500·(k−1) tokens of history, and counts that or not.
func talks(counted bool, ttft func(k int) int, cached func(k, n int) int) *history {
	h := &history{since: -time.Minute}
	f := &frame.Frame{At: 10 * time.Second, Slice: 10 * time.Second, Load: frame.LoadState{Level: 1, Requested: frame.Load{Concurrency: 5, InputTokens: 1400, OutputTokens: 100, Turns: 4}}}
	for k := 1; k <= 4; k++ {
		for n := range 5 {
			start := time.Duration(k) * time.Second
			first := start + time.Duration(ttft(k))*time.Millisecond
			f.Requests = append(f.Requests, measure.Request{
				Level: 1, Turn: k, Conversation: uint64(n + 1), HistoryTokens: 1500 * (k - 1), Start: start, First: first, Last: first + 100*time.Millisecond, End: first + 100*time.Millisecond,
				Streamed: true, Chunks: 100, InTokens: 1500 * k, OutTokens: 100, FirstTokens: 1, Source: measure.Usage, CachedTokens: cached(k, n), CachedCounted: counted,
			})
		}
	}
	h.add(f)
	h.look()
	return h
}

// engineCounts are talks of a server whose usage has no cached tokens. The engine looked up so many
// tokens in its prefix cache and found so many; ours are 75,000, of which 45,000 are history.
func engineCounts(queried, found float64) *history {
	h := talks(false, flat, nothing)
	after := h.now()
	after.Engine = engine.Status{Have: true, Reading: engine.Reading{
		At: time.Unix(10, 0), PrefixQueries: opt.Of(1000 + queried), PrefixHits: opt.Of(500 + found), PrefixUnit: engine.UnitTokens,
	}}
	before := *after
	before.Requests, before.At, before.Slice = nil, time.Second, time.Second
	before.Engine.Reading.At, before.Engine.Reading.PrefixQueries, before.Engine.Reading.PrefixHits = time.Unix(1, 0), opt.Of(1000), opt.Of(500)
	h = &history{}
	h.add(&before)
	h.add(after)
	h.look()
	return h
}

func TestLostPrefixesByTheEnginesCounters(t *testing.T) {
	for name, c := range map[string]struct {
		queried, found float64
		outcome        outcome
		says           string
	}{
		"all found":           {75_000, 45_000, ruledOut, ""},
		"a third found":       {75_000, 15_000, holds, "only 33 % of the history is found"},
		"none found":          {75_000, 0, holds, "no turn finds its history"},
		"prompts of others":   {150_000, 15_000, ruledOut, ""}, // TTFT by turn decides, which is flat
		"a cache that is off": {0, 0, ruledOut, ""},
	} {
		if f := checkPrefixLost(engineCounts(c.queried, c.found)); f.outcome != c.outcome || !strings.Contains(f.Text, c.says) {
			t.Errorf("%s: %v: %q; want %v: %q", name, f.outcome, f.Text, c.outcome, c.says)
		}
	}
}

func nothing(int, int) int { return 0 }
func flat(int) int         { return 50 }
func steep(k int) int      { return 50 * k }

func TestLostPrefixes(t *testing.T) {
	all := func(k, _ int) int { return 1500 * (k - 1) }
	third := func(k, n int) int { // of the first conversation in three
		if n%3 > 0 {
			return 0
		}
		return 1500 * (k - 1)
	}
	for name, c := range map[string]struct {
		history  *history
		outcome  outcome
		severity Severity
		says     string
	}{
		"all found":                      {talks(true, flat, all), ruledOut, 0, ""},
		"a third found":                  {talks(true, flat, third), holds, Warn, "only 40 % find their history"},
		"none found":                     {talks(true, steep, nothing), holds, Info, "no turn finds its history"},
		"not counted, TTFT flat":         {talks(false, flat, nothing), ruledOut, 0, ""},
		"not counted, TTFT as the turns": {talks(false, steep, nothing), holds, Info, "TTFT grows with the history"},
	} {
		f := checkPrefixLost(c.history)
		if f.outcome != c.outcome || c.outcome == holds && (f.Severity != c.severity || !strings.Contains(f.Text, c.says)) {
			t.Errorf("%s: %v, %v: %q; want %v, %v: %q", name, f.outcome, f.Severity, f.Text, c.outcome, c.severity, c.says)
		}
	}
	// Requests without a history, or with one too short for every cache.
	short := talks(true, flat, nothing)
	for i := range short.frames[0].Requests {
		short.frames[0].Requests[i].HistoryTokens /= 10
	}
	if f := checkPrefixLost(short); f.outcome != inconclusive {
		t.Errorf("short histories: %v, %q", f.outcome, f.Text)
	}
	alone := talks(true, flat, nothing)
	alone.now().Load.Requested.Turns = 0
	if f := checkPrefixLost(alone); f.outcome != inconclusive {
		t.Errorf("no conversations: %v, %q", f.outcome, f.Text)
	}
}

// Without the engine's word on its cache the cause stays open; one in three suggests three replicas.
func TestTheCauseOfALostPrefixStaysOpen(t *testing.T) {
	h := talks(true, flat, func(k, n int) int {
		if n > 1 {
			return 0
		}
		return 1500 * (k - 1)
	})
	f := checkPrefixLost(h)
	evidence := strings.Join(f.Evidence, "; ")
	if !strings.Contains(evidence, "no affinity, or the KV cache evicts") || !strings.Contains(evidence, "40 % of the second turns find it, as with 3 replicas") {
		t.Errorf("evidence %q", evidence)
	}
}
