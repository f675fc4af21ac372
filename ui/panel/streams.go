package panel

import (
	"fmt"

	"sonde/probe/measure"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// streams is a raster: a row per stream, time to the right. While a request waits for
// its first token its cells are shaded; then each is a block as high as the longest gap
// of that column, in the steps of the gap panel. What holds up the whole batch, such as a long
// prompt, shows as a stripe through all rows.
type streams struct{}

// slotWidth is the space for a slot's number and a blank, as wide as the axes of charts.
func slotWidth(w int) int {
	if w >= gutterFrom {
		return gutter
	}
	return gutter - 1
}

func (streams) Heading(v *View) text.Heading {
	t, c := v.Theme, &v.Frame.Client
	hd := text.Heading{Name: "streams", Column: v.History.Width}
	if v.Have {
		hd.Figures = []text.Figure{text.Fig("open "+text.Right(count(c.InFlight), 2), t.Plain)}
	}
	if c.Prefill > 0 {
		hd.Figures = append(hd.Figures, text.Fig("░ "+count(c.Prefill)+" waiting", t.Dim))
	}
	return hd
}

func (streams) Body(v *View, w, h int) []string {
	t := v.Theme
	if !v.History.Seen.Streams {
		return text.Because(t, whyNoSamples(v), w, h)
	}
	slotWidth := slotWidth(w)
	n := max(0, w-slotWidth)
	shown := v.History.Last(n)
	slots := usedSlots(shown)
	kept := keepSlots(slots, h)
	rows := make([][]chart.Cell, len(kept))
	labels := make([]string, len(kept))
	for i, u := range kept {
		rows[i] = v.withCursor(streamRow(v, shown, u.slot))
		labels[i] = t.Dim.Render(text.Right(fmt.Sprint(u.slot+1), slotWidth-1) + " ")
		if u.long {
			labels[i] = t.Bold.Render(text.Pad("long", slotWidth))
		}
	}
	if hidden := len(slots) - len(kept); hidden > 0 && h > 1 {
		labels[h-1] = t.Dim.Render(text.Right("+"+units.Short(float64(hidden+1)), slotWidth-1) + " ")
		rows[h-1] = nil
	}
	return text.Beside(labels, min(w, slotWidth), chart.Raster(n, h, rows), n, h)
}

// slotUse is a slot that appears in the picture.
type slotUse struct {
	slot int
	long bool // it has the long prompt that was sent on purpose
}

func usedSlots(columns []*history.Column) []slotUse {
	var used []slotUse
	most := 0
	for _, c := range columns {
		most = max(most, len(c.Streams))
	}
	for slot := range most {
		u, seen := slotUse{slot: slot}, false
		for _, c := range columns {
			if slot < len(c.Streams) && c.Streams[slot].Active {
				s := &c.Streams[slot]
				seen = seen || s.State != measure.StreamIdle || s.Ended
				u.long = u.long || s.Long
			}
		}
		if seen {
			used = append(used, u)
		}
	}
	return used
}

// keepSlots chooses h rows; the long prompt's is always one of them.
func keepSlots(used []slotUse, h int) []slotUse {
	if len(used) <= h || h <= 0 {
		return used[:min(len(used), max(0, h))]
	}
	kept := append([]slotUse(nil), used[:h]...)
	for _, u := range used[max(0, h-1):] {
		if u.long && h > 1 {
			kept[h-2] = u
		}
	}
	return kept
}

func streamRow(v *View, columns []*history.Column, slot int) []chart.Cell {
	row := make([]chart.Cell, len(columns))
	for i, c := range columns {
		if slot < len(c.Streams) && c.Streams[slot].Active {
			row[i] = streamCell(v, &c.Streams[slot])
		}
	}
	return row
}

func streamCell(v *View, s *history.Stream) chart.Cell {
	t, height := v.Theme, v.gapStep(s.MaxGapMS)
	switch {
	case s.Failed:
		return chart.Cell{Rune: '×', Style: t.Bad}
	case s.State == measure.StreamWaiting && s.Long:
		return chart.Cell{Rune: '▒', Style: t.Bold}
	case s.State == measure.StreamWaiting:
		return chart.Cell{Rune: '░', Style: t.Calm}
	case s.Ended && height == 0:
		return chart.Cell{Rune: '·', Style: t.Calm}
	case s.State == measure.StreamDecode && s.Long:
		return chart.Cell{Rune: blocks[height], Style: t.Bold}
	case s.State == measure.StreamDecode:
		return chart.Cell{Rune: blocks[height], Style: t.Gaps[height]}
	}
	return chart.Cell{}
}

// blocks are the heights of the raster, one for each step of a gap and one below them.
var blocks = [theme.GapSteps + 1]rune{'▁', '▂', '▄', '▆', '█'}

func (s streams) Zoomed(v *View, w, h int) []string {
	t, steps := v.Theme, v.gapSteps()
	legend := []text.Figure{text.Fig(" ░ waiting", t.Dim), text.Fig("▁ short gaps", t.Gaps[0])}
	for i, ms := range steps {
		figure := string(blocks[i+1]) + " " + units.Short(ms)
		if i == len(steps)-1 {
			figure += " ms"
		}
		legend = append(legend, text.Fig(figure, t.Gaps[i+1]))
	}
	legend = append(legend, text.Fig("· ended", t.Dim), text.Fig("× failed", t.Bad))
	return append([]string{text.Row(w, legend...)}, s.Body(v, w, h-1)...)
}

func (streams) Explain(v *View) Explanation {
	stripe := "A stripe through all rows is something that held up the whole batch, most often the prefill of a long prompt."
	if !v.Frame.Load.Watch {
		stripe += " The key l sends one on purpose; its row is labelled long."
	}
	return Explanation{
		Title: "streams: what each stream was doing",
		Text: []string{
			"A row is a stream, a column is " + units.Span(v.History.Width) + ". ░ waits for its first token (queued or in prefill). ▁ to █: the longest gap of the column, with steps at " + v.gapStepsText() + ". · a request ended, × it failed.",
			stripe,
		},
		Source: fromClient,
		Now:    windowNow(v, v.Frame.Client.Gap.N),
	}
}
