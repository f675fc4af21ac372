package report

import (
	"math"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/opt"
	"sonde/probe/report/page"
)

// The curve as text: a line for each level, a bar for its throughput and one for its
// TTFT p95.
const (
	curveLabel   = 8
	curveFigure  = 8
	curveMarks   = 15
	longestBar   = 32
	shortestBar  = 6
	curveColumns = 2 // of bars
)

// bars are the curve in lines of at most width cells; none without a level that
// has throughput.
func (s *SweepSummary) bars(width int) []string {
	length := min(longestBar, max(shortestBar, (width-curveLabel-curveMarks)/curveColumns-curveFigure-2))
	mostRate, mostTTFT := s.most(throughputOf), s.most(ttftOf)
	if mostRate == 0 {
		return nil
	}
	lines := []string{right("load", curveLabel) + "  " + pad("output tok/s", length+curveFigure) + "  " + "TTFT p95 ms"}
	for i := range s.Levels {
		l := &s.Levels[i]
		line := right(l.amount(), curveLabel) + "  " + pad(labelled(throughputOf(l), mostRate, length), length+curveFigure) + "  " +
			pad(labelled(ttftOf(l), mostTTFT, length), length+curveFigure)
		if marks := s.marks(l); len(marks) > 0 {
			line += "  ◀ " + strings.Join(marks, ", ")
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
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

// curveSection is the curve as text; empty without two levels.
func (s *SweepSummary) curveSection(width int) page.Section {
	lines := s.bars(width)
	if len(lines) < 3 {
		return page.Section{}
	}
	return page.Section{Title: lines[0], Lines: lines[1:]}
}

// curve is the curve as a picture and as text.
func (s *SweepSummary) curve(m *page.Markdown) {
	bars := s.bars(100)
	if s.picture == "" && len(bars) < 3 {
		return
	}
	m.Linef("\n### Curve")
	if s.picture != "" {
		m.Linef("\n![Throughput and TTFT against the load](%s)", filepath.Base(s.picture))
	}
	if len(bars) > 2 {
		m.Linef("\n```\n%s\n```", strings.Join(bars, "\n"))
	}
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

func right(s string, width int) string {
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(s))) + s
}
