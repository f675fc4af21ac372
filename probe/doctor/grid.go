package doctor

import (
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/opt"
)

// grid is a table of figures: a head, and rows whose first columns are words.
type grid struct {
	head  []string
	words int // columns that are words: set to the left
	rows  [][]string
}

// text aligns the columns with blanks.
func (g grid) text() string {
	widths := make([]int, len(g.head))
	for _, row := range append([][]string{g.head}, g.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	var b strings.Builder
	for _, row := range append([][]string{g.head}, g.rows...) {
		var line strings.Builder
		for i, cell := range row {
			blank := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if i < g.words {
				line.WriteString(cell + blank + "  ")
			} else {
				line.WriteString(blank + cell + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// markdown is the table for a README.
func (g grid) markdown() string {
	var b strings.Builder
	line := func(cells []string) {
		safe := make([]string, len(cells))
		for i, c := range cells {
			safe[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		b.WriteString("| " + strings.Join(safe, " | ") + " |\n")
	}
	line(g.head)
	rule := make([]string, len(g.head))
	for i := range rule {
		rule[i] = "---:"
		if i < g.words {
			rule[i] = "---"
		}
	}
	line(rule)
	for _, row := range g.rows {
		line(row)
	}
	return b.String()
}

// unknown stands for a figure that is not known.
const unknown = "—"

// fine writes milliseconds to a microsecond, or to fewer digits when large.
func fine(ms opt.Float) string {
	switch {
	case !ms.OK:
		return unknown
	case ms.V >= 100:
		return fmt.Sprintf("%.0f", ms.V)
	case ms.V >= 10:
		return fmt.Sprintf("%.1f", ms.V)
	}
	return fmt.Sprintf("%.3f", ms.V)
}

func oneDigit(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	return fmt.Sprintf("%.1f", f.V)
}

// thousands writes a whole number with commas.
func thousands(v float64) string {
	digits := fmt.Sprintf("%.0f", math.Round(v))
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
