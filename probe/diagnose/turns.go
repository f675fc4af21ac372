package diagnose

import (
	"fmt"
	"math"

	"sonde/probe/engine"
	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// later sums up the turns of conversations that have a history.
type later struct {
	n, hits     float64 // requests; that found most of their history
	second      float64 // share of the second turns that did: their history is of one request alone
	longest     float64 // mean tokens of the longest turn
	counted     bool    // the server counts cached tokens
	first, last *level.Turn
}

// turns are those of the last 30 s or, where few requests ended in them, of the whole level.
func (h *history) turns() []level.Turn {
	newest := level.TurnsOf(h.present.requests)
	if l := h.later(newest); l.n >= enough || h.levels == nil {
		return newest
	}
	if visit, _, ok := h.levels.Present(); ok {
		return visit.Turns
	}
	return newest
}

// later leaves out turns whose history is too short for a cache that keeps whole blocks.
func (h *history) later(turns []level.Turn) (l later) {
	least := float64(lostHistory)
	if e, ok := h.now().FreshEngine(); ok && e.KVBlockTokens.OK {
		least = lostBlocks * e.KVBlockTokens.V
	}
	for i := range turns {
		t := &turns[i]
		if t.Turn == 1 {
			l.first = t
		}
		if t.TTFT.N >= lostTTFTFewest {
			l.last = t
		}
		l.longest = max(l.longest, t.Input.Or(0))
		l.counted = l.counted || t.Cached.OK
		if t.Turn == 1 || t.History.Or(0) < least {
			continue
		}
		l.n += float64(t.Histories)
		l.hits += float64(t.Histories) * t.Hits.Or(0)
		if t.Turn == 2 {
			l.second = t.Hits.Or(0)
		}
	}
	return l
}

// checkPrefixLost finds conversations whose history the server computes again at every turn.
func checkPrefixLost(h *history) finding {
	if h.now().Load.Requested.Turns < 2 || h.now().Load.Requested.IsIdle() {
		return unclear
	}
	l := h.later(h.turns())
	if l.n < enough {
		return unclear
	}
	if l.counted {
		found := l.hits / l.n
		basis := fmt.Sprintf("by the cached tokens in usage: %s of %s", units.Whole(l.hits), units.Count(l.n, "later turn"))
		return h.lostIf(&l, found, units.Share(found)+" find their history", basis)
	}
	if found := h.foundByEngine(); found.OK {
		return h.lostIf(&l, found.V, units.Share(found.V)+" of the history is found", "by the engine's counters, compared with the history in our prompts")
	}
	return lostByFirstToken(&l)
}

// foundByEngine is the share of our history that the engine's counters say it found; unknown where
// it has looked up prompts of others too.
func (h *history) foundByEngine() opt.Float {
	list := h.readings(h.ofLoad())
	queried, hit := increase(list, engine.FieldPrefixQueries), increase(list, engine.FieldPrefixHits)
	in, before := 0, 0
	for _, r := range h.present.requests {
		in, before = in+r.InTokens, before+r.HistoryTokens
	}
	if !queried.OK || !hit.OK || before == 0 || h.now().Engine.Reading.PrefixUnit != engine.UnitTokens || !onlyOurs(queried.V, in) {
		return opt.Float{}
	}
	return opt.Of(min(1, hit.V/queried.V*float64(in)/float64(before)))
}

// lostIf judges the share that is found.
func (h *history) lostIf(l *later, found float64, says, basis string) finding {
	if found < lostNone {
		return info("no turn finds its history in the prefix cache: every prompt is computed anew").
			with("%s", basis).
			with("all of %s tokens in the longest turn are prefill", units.Whole(l.longest)).
			advise("switch the engine's prefix cache on; if it is on, what was computed is dropped before the next turn, or each turn reaches another replica")
	}
	return decide(true, found < lostHits, h.lost(l, says).with("%s", basis))
}

// lost says why some turns find their history and others do not.
func (h *history) lost(l *later, says string) finding {
	text := "the prefix cache is lost between turns: only " + says
	fill := h.conversationsFill(l)
	replicas := math.Round(1 / l.second)
	router := l.second > 0 && replicas >= 2
	chance := fmt.Sprintf("%s of the second turns find it, as with %s replicas chosen at random", units.Share(l.second), units.Whole(replicas))
	switch {
	case fill.OK && fill.V >= lostFull, h.outOfKV():
		return warn("%s; the KV cache evicts it", text).
			withIf(fill.OK, "the conversations need %s of the KV cache", units.Share(fill.V)).
			advise("give the KV cache more memory or offload it to the host, or hold fewer conversations; a shorter think time helps too")
	case fill.OK && fill.V <= lostRoom:
		return warn("%s; the turns reach different replicas", text).
			with("the conversations need only %s of the KV cache: nothing has to be evicted", units.Share(fill.V)).
			withIf(router, "%s", chance).
			advise("let the router send a conversation to the same replica: prefix-aware or session-affine routing")
	}
	return warn("%s", text).
		with("either the router has no affinity, or the KV cache evicts the history").
		withIf(router, "%s", chance).
		advise("compare with one stream: if the history is found then, it is evicted under load; if not, let the router keep a conversation on one replica")
}

// conversationsFill is the share of the KV cache that all conversations need at their longest.
func (h *history) conversationsFill(l *later) opt.Float {
	e, ok := h.now().FreshEngine()
	load := &h.now().Load.Requested
	if !ok || load.Rate > 0 || e.KVCapacityTokens.Or(0) <= 0 {
		return opt.Float{}
	}
	return opt.Of(float64(load.Concurrency) * (l.longest + float64(load.OutputTokens)) / e.KVCapacityTokens.V)
}

// lostByFirstToken goes by TTFT where the server counts no cached tokens: with a cache the first
// token waits for the new message only.
func lostByFirstToken(l *later) finding {
	if l.first == nil || l.last == nil || l.first.TTFT.N < lostTTFTFewest || !l.first.Input.OK || !l.last.Input.OK {
		return unclear
	}
	longer, slower := l.last.Input.V/l.first.Input.V, l.last.TTFT.P50/l.first.TTFT.P50
	return decide(longer >= lostLonger, slower >= lostByTTFT*longer,
		info("TTFT grows with the history, as if nothing of it were cached").
			with("turn %d has %s the prompt of turn 1, and %s its TTFT (p50)", l.last.Turn, units.Ratio(longer), units.Ratio(slower)).
			with("by TTFT alone: the server reports no cached tokens").
			advise("switch the prefix cache on, and let the router keep a conversation on one replica"))
}
