package panel

import (
	"strconv"

	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/sweep"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/text"
)

// aboutTurns explains the table.
const aboutTurns = "Conversations, zoomed: TTFT by turn, the mean prompt with its history, the share of it that the server's prefix cache had, and hits: how many requests found most of their history there."

// turnTable is TTFT by turn of the conversations of this level or, without load, of the newest
// one; nil without conversations.
func turnTable(v *View, w, h int) []string {
	if v.Requested.Turns < 2 {
		return nil
	}
	t := v.Theme
	shown := talkingLevel(v)
	if shown == nil {
		return chart.Fit([]string{t.Dim.Render(" TTFT by turn"), t.Dim.Render(" no turn has ended yet")}, w, h)
	}
	title, rows := t.Dim.Render(" TTFT by turn at "+sweep.Describe(shown.Load)), shown.Turns
	known := func(name string, write func(float64) string, value func(*level.Turn) opt.Float) text.Column[level.Turn] {
		return text.Column[level.Turn]{Name: name, Cell: func(r *level.Turn) text.Figure {
			return text.Fig(units.Known(value(r), write), t.Unless(!value(r).OK))
		}}
	}
	latency := func(name string) text.Column[level.Turn] {
		return text.Column[level.Turn]{Group: "TTFT ms", Name: name, Cell: func(r *level.Turn) text.Figure {
			value, _ := statistic(name, r.TTFT)
			return text.Fig(units.Known(r.TTFT.Value(value), units.Milliseconds.Of), t.Unless(weak(r.TTFT, name)))
		}}
	}
	percent := func(v float64) string { return units.Percent(opt.Of(v)) }
	table := text.Table[level.Turn]{Columns: []text.Column[level.Turn]{
		{Name: "turn", Cell: func(r *level.Turn) text.Figure { return text.Fig(turnName(r), t.Bold) }},
		{Name: "n", Cell: func(r *level.Turn) text.Figure { return text.Fig(units.Short(float64(r.N)), t.Plain) }},
		latency("p50"), latency("p95"),
		known("prompt", units.Short, func(r *level.Turn) opt.Float { return r.Input }),
		known("cached", percent, (*level.Turn).CachedShare),
		known("hits", percent, func(r *level.Turn) opt.Float { return r.Hits }),
		known("cached tok", units.Short, func(r *level.Turn) opt.Float { return r.Cached }),
	}}
	head, lines := table.Lines(t, rows, w)
	return chart.Fit(append(append([]string{title}, head...), lines...), w, h)
}

// talkingLevel is the level whose turns are shown; nil if there is none.
func talkingLevel(v *View) (newest *level.Level) {
	for i := range v.Levels.Rows {
		r := &v.Levels.Rows[i]
		switch {
		case len(r.Turns) == 0:
		case r.Load == v.Requested:
			return r
		case v.Requested.Concurrency == 0 && (newest == nil || r.Since > newest.Since):
			newest = r
		}
	}
	return newest
}

// turnName is the number of the turn; the last row may be of later ones too.
func turnName(r *level.Turn) string {
	name := strconv.Itoa(r.Turn)
	if r.Later {
		name += "+"
	}
	return name
}
