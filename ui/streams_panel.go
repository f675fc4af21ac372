package ui

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"sonde/probe/measure"
	"sonde/ui/chart"
)

// streamsPanel is a raster: a row per stream, time to the right. While a request
// waits for its first token its cells are shaded; then each is a block as high as
// the longest gap of that column is above the usual one. What holds up the whole
// batch, such as a long prompt, shows as a stripe through all rows.
type streamsPanel struct{ theme *theme }

// slotWidth is the room for a slot's number and a blank.
const slotWidth = 4

func (s *streamsPanel) heading(p *picture) heading {
	t, c := s.theme, &p.frame.Client
	hd := heading{name: "streams", column: p.history.width}
	if p.have {
		hd.figures = []figure{{"open " + right(group(float64(c.InFlight)), 2), t.plain}}
	}
	if c.Prefill > 0 {
		hd.figures = append(hd.figures, figure{"░ " + group(float64(c.Prefill)) + " waiting", t.dim})
	}
	return hd
}

func (s *streamsPanel) key(p *picture, _ bool) any {
	v := p.history.version
	return [2]int{v.columns, v.streams}
}

func (s *streamsPanel) body(p *picture, w, h int) []string {
	if p.history.version.streams == 0 {
		return s.theme.because(whyNoSamples(p), w, h)
	}
	n := max(0, w-slotWidth)
	shown := p.history.last(n)
	slots := usedSlots(shown)
	kept := keepSlots(slots, h)
	rows := make([][]chart.Cell, len(kept))
	labels := make([]string, len(kept))
	for i, u := range kept {
		rows[i] = s.row(shown, u.slot)
		labels[i] = s.label(u)
	}
	if hidden := len(slots) - len(kept); hidden > 0 && h > 1 {
		labels[h-1] = s.theme.dim.Render(right("+"+short(float64(hidden+1)), slotWidth-1) + " ")
		rows[h-1] = nil
	}
	return beside(labels, min(w, slotWidth), chart.Raster(n, h, rows), n, h)
}

// slotUse is a slot that is seen on the picture.
type slotUse struct {
	slot int
	long bool // the long prompt that was fired on purpose runs in it
}

func usedSlots(columns []*column) []slotUse {
	var used []slotUse
	most := 0
	for _, c := range columns {
		most = max(most, len(c.streams))
	}
	for slot := range most {
		u, seen := slotUse{slot: slot}, false
		for _, c := range columns {
			if slot < len(c.streams) && c.streams[slot].active {
				seen = seen || c.streams[slot].state.State != measure.StreamIdle || c.streams[slot].state.Ended
				u.long = u.long || c.streams[slot].state.Long
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

func (s *streamsPanel) label(u slotUse) string {
	if u.long {
		return s.theme.bold.Render(pad("long", slotWidth))
	}
	return s.theme.dim.Render(right(fmt.Sprint(u.slot+1), slotWidth-1) + " ")
}

func (s *streamsPanel) row(columns []*column, slot int) []chart.Cell {
	row := make([]chart.Cell, len(columns))
	for i, c := range columns {
		if slot < len(c.streams) && c.streams[slot].active {
			row[i] = s.cell(&c.streams[slot].state, c.usualGapMS)
		}
	}
	return row
}

func (s *streamsPanel) cell(c *measure.StreamCell, usualMS float64) chart.Cell {
	t := s.theme
	level := gapLevel(c.MaxGapMS, usualMS)
	switch {
	case c.Failed:
		return chart.Cell{Rune: '×', Style: t.bad}
	case c.State == measure.StreamWaiting && c.Long:
		return chart.Cell{Rune: '▒', Style: t.bold}
	case c.State == measure.StreamWaiting:
		return chart.Cell{Rune: '░', Style: t.calm}
	case c.Ended && level == 0:
		return chart.Cell{Rune: '·', Style: t.calm}
	case c.State == measure.StreamDecode && c.Long:
		return chart.Cell{Rune: blocks[level], Style: t.bold}
	case c.State == measure.StreamDecode:
		return chart.Cell{Rune: blocks[level], Style: t.heat(level)}
	}
	return chart.Cell{}
}

// heat is the style of a level of gapLevel.
func (t *theme) heat(level int) lipgloss.Style {
	return [...]lipgloss.Style{t.calm, t.calm, t.calm, t.second, t.bad}[level]
}

func (s *streamsPanel) zoomed(p *picture, w, h int) []string {
	legend := s.theme.row(w, figure{" ░ waits for its first token", s.theme.dim},
		figure{"▁ usual gap", s.theme.heat(0)}, figure{"▆ 8×", s.theme.heat(3)}, figure{"█ 14× and more", s.theme.heat(4)},
		figure{"· ended", s.theme.dim}, figure{"× failed", s.theme.bad})
	return append([]string{legend}, s.body(p, w, h-1)...)
}

func (s *streamsPanel) explain(p *picture) explanation {
	return explanation{
		title: "streams: what each stream was doing",
		text: []string{
			"A row is a stream, a column is " + span(p.history.width) + ". ░ waits for its first token (queued or in prefill). ▁ to █: the longest gap of the column against the usual gap, from below 2.5 to 14 times and more. · a request ended, × it failed.",
			"A stripe through all rows is something that held up the whole batch, most often the prefill of a long prompt. Key l fires one on purpose; its own row is called long.",
		},
		source: fromClient,
		now:    windowNow(p, p.frame.Client.Gap.N),
	}
}
