package panel

import (
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
)

// pointed is a panel that can say what it showed at one moment.
type pointed interface {
	// At are the figures of a column.
	At(v *View, c *history.Column) []text.Figure
}

// cursorBack is how many columns before the newest the cursor is.
func (v *View) cursorBack() (back int, on bool) {
	return int(v.History.Newest() + 1 - v.Cursor), v.Cursor > 0 && v.History.Column(v.Cursor-1) != nil
}

// CursorTime is when the column of the cursor began.
func (v *View) CursorTime() time.Duration { return time.Duration(v.Cursor-1) * v.History.Width }

// cursorTime is the moment of the cursor for the title.
func cursorTime(v *View, back int, narrow bool) string {
	at := "│ " + units.Clock(v.CursorTime())
	if narrow {
		return at
	}
	return at + ", −" + units.Span(time.Duration(back)*v.History.Width)
}

// pointAt gives a heading the figures at the cursor instead of those of now.
func (v *View) pointAt(p Panel, hd *text.Heading) {
	back, on := v.cursorBack()
	if !on || hd.Column == 0 {
		return
	}
	hd.Cursor = back + 1
	if p, ok := p.(pointed); ok {
		hd.Figures, hd.Spare = p.At(v, v.History.Column(v.Cursor-1)), 0
	}
}

// withCursor draws the cursor into the blank cell of a row of the raster.
func (v *View) withCursor(row []chart.Cell) []chart.Cell {
	back, on := v.cursorBack()
	if at := len(row) - 1 - back; on && at >= 0 && row[at].Rune == 0 {
		row[at] = chart.Cell{Rune: '│', Style: v.Theme.Accent}
	}
	return row
}

func (l *latency) At(v *View, c *history.Column) []text.Figure {
	t, u, s := v.Theme, l.unit(v), l.of(c.TTFT, c.TPOT)
	return []text.Figure{percentile(t, "p50", s, u, t.P50), percentile(t, "p95", s, u, t.P95),
		percentile(t, "p99", s, u, t.P99), text.Fig("n "+count(s.N), t.Dim)}
}

func (g *gap) At(v *View, c *history.Column) []text.Figure {
	t, u := v.Theme, unitOf(v.Frame.Client.Gap)
	value := func(q float64) string {
		ms, known := c.Gaps.Quantile(q)
		return units.Known(opt.Float{V: ms, OK: known}, u.Of)
	}
	return []text.Figure{text.Fig("p50 "+value(0.5), t.P50), text.Fig("p99 "+value(0.99), t.P99),
		text.Fig("max "+value(1), t.Plain), text.Fig("n "+count(c.Gaps.N()), t.Dim)}
}

func (k *tokens) At(v *View, c *history.Column) []text.Figure {
	t := v.Theme
	first, second := curveSigns(t)
	return []text.Figure{text.Fig(first+"out "+rateText(&v.Frame.Client, c.OutPerS()), t.First), text.Fig(second+"in "+rateText(&v.Frame.Client, c.InPerS()), t.Second)}
}

func (gpuPanel) At(v *View, c *history.Column) []text.Figure {
	t := v.Theme
	first, second := curveSigns(t)
	active := text.Fig(first+"SM "+gpuPercent(c.SM.Mean()), t.First)
	if !c.SM.Mean().OK && c.Busy.Mean().OK {
		active = text.Fig("busy "+gpuPercent(c.Busy.Mean()), t.Dim)
	}
	return []text.Figure{active, text.Fig(second+"DRAM "+gpuPercent(c.DRAM.Mean()), t.Second)}
}

func (kv) At(v *View, c *history.Column) []text.Figure {
	t := v.Theme
	return []text.Figure{text.Fig(units.Percent(c.KV.Mean()), t.First),
		text.Fig("run "+units.Known(c.Running.Mean(), units.Sig2), t.Plain), text.Fig("wait "+units.Known(c.Waiting.Mean(), units.Sig2), t.Plain)}
}

func (streams) At(v *View, c *history.Column) []text.Figure {
	open, waiting, failed := 0, 0, 0
	for i := range c.Streams {
		s := &c.Streams[i]
		if s.Active && (s.State != measure.StreamIdle || s.Ended) {
			open++
		}
		if s.Active && s.State == measure.StreamWaiting {
			waiting++
		}
		if s.Failed {
			failed++
		}
	}
	figures := []text.Figure{text.Fig("open "+count(open), v.Theme.Plain)}
	if waiting > 0 {
		figures = append(figures, text.Fig("░ "+count(waiting)+" waiting", v.Theme.Dim))
	}
	if failed > 0 {
		figures = append(figures, text.Fig("× "+count(failed)+" failed", v.Theme.Bad))
	}
	return figures
}
