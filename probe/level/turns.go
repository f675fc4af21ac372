package level

import (
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// MostTurns is how many turns of a conversation have a row of their own: the last row is also of
// all later turns.
const MostTurns = 16

// turnSamples is how many samples of one turn stay exact; beyond it quantiles are within 0.1 %.
const turnSamples = 2000

// Turn is what was measured of one turn of the conversations: of the requests that succeeded.
type Turn struct {
	Turn  int  // from 1
	Later bool // it is also of all later turns
	N     int
	TTFT  measure.Summary

	// Means of the requests whose prompt the server counted: tokens of the prompt, and of these those
	// that its prefix cache had; unknown from a server that never counts them.
	Input, Cached opt.Float
	// History is the mean number of tokens that came before the newest message, as far as it is
	// known, and Histories the number of requests behind that. Hits is the share of these that found
	// most of it in the cache; unknown as Cached is, and of the first turn, which has no history.
	History   opt.Float
	Histories int
	Hits      opt.Float
}

// TurnsOf are the turns of some requests.
func TurnsOf(requests []*measure.Request) []Turn {
	var t turns
	for _, r := range requests {
		if r.Class == measure.OK {
			t.add(r)
		}
	}
	return t.list()
}

// CachedShare is the share of the prompts that the cache had.
func (t *Turn) CachedShare() opt.Float {
	if !t.Input.OK || !t.Cached.OK {
		return opt.Float{}
	}
	return opt.Of(t.Cached.V / t.Input.V)
}

// turns gathers the rows.
type turns struct {
	rows    []turnTally // by turn, from 1
	later   bool        // the last one is of later turns too
	counted bool        // the server has counted cached tokens
}

type turnTally struct {
	n, prompts    int // requests; with a counted prompt
	input, cached int
	histories     int // of these requests, with a history
	history       int // tokens of that
	hits          int
	ttft          *measure.Dist
}

// add takes a request that succeeded and counts.
func (t *turns) add(r *measure.Request) {
	if r.Turn == 0 {
		return
	}
	at := min(r.Turn, MostTurns)
	for len(t.rows) < at {
		t.rows = append(t.rows, turnTally{ttft: measure.NewDist(turnSamples)})
	}
	t.later = t.later || r.Turn > MostTurns
	t.counted = t.counted || r.CachedCounted
	row := &t.rows[at-1]
	row.n++
	if ms, ok := r.TTFT(); ok && !r.Excluded {
		row.ttft.Add(ms)
	}
	if !promptCounted(r) {
		return
	}
	row.prompts++
	row.input += r.InTokens
	row.cached += r.CachedTokens
	if r.HistoryTokens > 0 {
		row.histories++
		row.history += r.HistoryTokens
	}
	if r.FoundHistory() {
		row.hits++
	}
}

func (t *turns) list() []Turn {
	var out []Turn
	for i := range t.rows {
		row := &t.rows[i]
		turn := Turn{
			Turn: i + 1, Later: t.later && i+1 == MostTurns, N: row.n, TTFT: row.ttft.Summary(),
			Input: ratio(row.input, row.prompts), History: ratio(row.history, row.histories), Histories: row.histories,
		}
		if t.counted { // some servers count them only where there are any
			turn.Cached, turn.Hits = ratio(row.cached, row.prompts), ratio(row.hits, row.histories)
		}
		out = append(out, turn)
	}
	return out
}

func (t *turns) compact() {
	for i := range t.rows {
		t.rows[i].ttft.Compact()
	}
}
