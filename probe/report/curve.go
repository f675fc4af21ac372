package report

import (
	"math"
	"path/filepath"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/report/page"
)

// The curve as text: a line for each level, a bar for its throughput and one for its
// TTFT p95.
const (
	curveLabel   = 10
	curveFigure  = 8
	curveMarks   = 15
	longestBar   = 32
	shortestBar  = 6
	curveColumns = 2 // of bars
)

// curveSection is the curve in lines of at most width cells; empty without two levels of
// which one has throughput.
func (s *SweepSummary) curveSection(width int) page.Section {
	length := min(longestBar, max(shortestBar, (width-curveLabel-curveMarks)/curveColumns-curveFigure-1))
	mostRate, mostTTFT := s.most(throughputOf), s.most(ttftOf)
	if mostRate == 0 || len(s.Levels) < 2 {
		return page.Section{}
	}
	out := page.Section{Columns: []page.Column{
		{Title: "load ", Width: curveLabel}, {Title: "output tok/s", Width: length + curveFigure, Left: true},
		{Title: "TTFT p95 ms", Width: length + curveFigure, Left: true}, {Left: true},
	}}
	for i := range s.Levels {
		l := &s.Levels[i]
		row := []string{l.amount() + " ", labelled(throughputOf(l), mostRate, length), labelled(ttftOf(l), mostTTFT, length), ""}
		if marks := s.marks(l); len(marks) > 0 {
			row[3] = "  ◀ " + strings.Join(marks, ", ")
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// The two figures of the curve.
func throughputOf(l *Level) opt.Float { return l.Rates.OutputPerS }
func ttftOf(l *Level) opt.Float       { return l.LatencyMS.TTFT.P95 }

func (s *SweepSummary) most(figure func(*Level) opt.Float) float64 {
	most := 0.0
	for i := range s.Levels {
		most = max(most, figure(&s.Levels[i]).Or(0))
	}
	return most
}

// labelled is v as a bar with its figure behind it.
func labelled(v opt.Float, most float64, length int) string {
	return bar(v, most, length) + " " + figure(v)
}

// bar is v as a bar of eighths of a cell, of at most length cells.
func bar(v opt.Float, most float64, length int) string {
	if !v.OK || most <= 0 {
		return ""
	}
	eighths := int(math.Round(8 * float64(length) * v.V / most))
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return text
}

// curve is the curve as a picture and as text.
func (s *SweepSummary) curve(m *page.Markdown) {
	text := page.Text{Width: 100}
	text.Section(s.curveSection(text.Width))
	if s.picture == "" && text.String() == "" {
		return
	}
	m.Linef("\n### Curve")
	if s.picture != "" {
		m.Linef("\n![Throughput and TTFT against the load](%s)", filepath.Base(s.picture))
	}
	if text.String() != "" {
		m.Linef("\n```%s```", text.String())
	}
}
