package report

import (
	"fmt"
	"strconv"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/report/page"
	"sonde/probe/units"
)

// Turn is one turn of the conversations: of the requests that succeeded. Tokens are means.
type Turn struct {
	Turn            int       `json:"turn"`  // from 1
	Later           bool      `json:"later"` // the row is also of all later turns
	N               int       `json:"n"`
	TTFTMS          Quantiles `json:"ttft_ms"`
	InputTokens     Number    `json:"input_tokens"`      // of the prompt, history included
	CachedTokens    Number    `json:"cached_tokens"`     // of these, found in the server's prefix cache
	CachedShare     Number    `json:"cached_share"`      // of the prompt
	HistoryHitShare Number    `json:"history_hit_share"` // of the requests: most of the history was found; unknown of the first turn
}

func turnsOf(l *level.Level) []Turn {
	var out []Turn
	for i := range l.Turns {
		t := &l.Turns[i]
		out = append(out, Turn{
			Turn: t.Turn, Later: t.Later, N: t.N, TTFTMS: QuantilesOf(&t.TTFT),
			InputTokens: Rounded(t.Input), CachedTokens: Rounded(t.Cached), CachedShare: RoundedShare(t.CachedShare()), HistoryHitShare: RoundedShare(t.Hits),
		})
	}
	return out
}

// conversations puts what was requested of them into a Load.
func (l *Load) conversations(requested frame.Load) {
	if requested.Turns < 2 {
		return
	}
	l.Turns = requested.Turns
	if requested.Rate == 0 {
		l.ThinkS = Rounded(opt.Of(requested.Think.Seconds()))
	}
}

// talk describes the conversations of a load; "" without them.
func (l *Load) talk() string {
	switch {
	case l.Turns < 2:
		return ""
	case l.ThinkS.Or(0) > 0:
		return fmt.Sprintf(" · %d turns, think time %s", l.Turns, units.Span(time.Duration(l.ThinkS.V*float64(time.Second))))
	}
	return fmt.Sprintf(" · %d turns", l.Turns)
}

// turnSection is a table with a row for each turn, empty without conversations.
func turnSection(title string, turns []Turn) page.Section {
	if len(turns) == 0 {
		return page.Section{}
	}
	out := page.Section{Title: title, Columns: []page.Column{{Title: "turn", Width: nameWidth, Left: true}, {Title: "n", Width: countWidth}}}
	for _, name := range []string{"TTFT p50", "p95", "p99", "prompt", "cached", "share", "hits"} {
		out.Columns = append(out.Columns, page.Column{Title: name, Width: figureWidth})
	}
	weak := false
	for i := range turns {
		t := &turns[i]
		name := strconv.Itoa(t.Turn)
		if t.Later {
			name += " and later"
		}
		q := &t.TTFTMS
		weak = weak || q.N > 0 && len(q.Weak) > 0
		out.Rows = append(out.Rows, []string{
			name, strconv.Itoa(t.N), q.at("p50"), q.at("p95"), q.at("p99"), whole(t.InputTokens), whole(t.CachedTokens), percent(t.CachedShare), percent(t.HistoryHitShare),
		})
	}
	out.Lines = []string{"prompt, cached: mean tokens · hits: requests that found most of their history"}
	if weak {
		out.Lines = append(out.Lines, weakMark+" too few samples for this percentile")
	}
	return out
}
