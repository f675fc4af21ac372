package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/ui/theme"
)

// Column is a column of a table, aligned to the right. Neighbours of one group share the
// upper line of the head.
type Column[T any] struct {
	Group, Name string
	Width       int // at least; it grows with the figures
	Cell        func(*T) Figure
}

// Table writes rows under the names of its columns. Columns that find no room go as a
// whole, the last ones first.
type Table[T any] struct {
	Columns []Column[T]
	Shift   int // columns after the first that lie left of the visible ones

	// A text that takes the room behind the columns; nil: there is none.
	RestName string
	Rest     func(*T) string
}

// shownColumn is a column that has room, with the blanks before it.
type shownColumn struct {
	group, name          string
	index, width, blanks int
}

// Lines are the head of the table (two lines where columns have groups) and a line for
// each row. The first cell of every line is blank, for a sign.
func (t Table[T]) Lines(p *theme.Palette, rows []T, w int) (head, lines []string) {
	cells := make([][]Figure, len(rows))
	for i := range rows {
		for _, c := range t.Columns {
			cells[i] = append(cells[i], c.Cell(&rows[i]))
		}
	}
	shown, used := t.fit(cells, w)
	if groups := groupLine(shown); groups != "" {
		head = append(head, p.Dim.Render(groups))
	}
	names := make([]Figure, len(t.Columns))
	for i, c := range t.Columns {
		names[i].Text = c.Name
	}
	head = append(head, p.Dim.Render(rowLine(names, shown)+t.rest(t.RestName, w-used)))
	for i := range rows {
		line := rowLine(cells[i], shown)
		if t.Rest != nil {
			line += t.rest(t.Rest(&rows[i]), w-used)
		}
		lines = append(lines, line)
	}
	return head, lines
}

func (t Table[T]) rest(s string, w int) string {
	if t.Rest == nil || w <= 4 {
		return ""
	}
	return "  " + ClipWords(s, w-2)
}

// fit chooses the first column and those after the shift, as many as fit; the room that
// is left stands before the groups.
func (t Table[T]) fit(cells [][]Figure, w int) (shown []shownColumn, used int) {
	starts := 0
	for i, c := range t.Columns {
		if i > 0 && i <= t.Shift {
			continue
		}
		s := shownColumn{c.Group, c.Name, i, t.width(cells, i), 1}
		if used+s.width+s.blanks > w {
			break
		}
		used += s.width + s.blanks
		shown = append(shown, s)
		if startsGroup(shown) {
			starts++
		}
	}
	if t.Rest == nil && w-used >= starts {
		for i := range shown {
			if startsGroup(shown[:i+1]) {
				shown[i].blanks++
				used++
			}
		}
	}
	return shown, used
}

// width is the room for the longest figure, and for the head.
func (t Table[T]) width(cells [][]Figure, i int) int {
	c, last := t.Columns[i], len(t.Columns)-1
	width := max(c.Width, ansi.StringWidth(c.Name))
	if i == 0 || i == last || t.Columns[i-1].Group != c.Group && t.Columns[i+1].Group != c.Group {
		width = max(width, ansi.StringWidth(c.Group)) // alone under it
	}
	for _, row := range cells {
		width = max(width, ansi.StringWidth(row[i].Text))
	}
	return width
}

// startsGroup reports whether the last of the columns belongs to another group than the
// one before it.
func startsGroup(shown []shownColumn) bool {
	if len(shown) < 2 {
		return false
	}
	own, before := shown[len(shown)-1].group, shown[len(shown)-2].group
	return own == "" || own != before
}

// groupLine writes the names of the groups, each in the middle over its columns; "" where
// there are none.
func groupLine(shown []shownColumn) string {
	line, any := "", false
	for i := 0; i < len(shown); {
		group, blanks, width := shown[i].group, shown[i].blanks, shown[i].width
		for i++; group != "" && i < len(shown) && shown[i].group == group; i++ {
			width += shown[i].blanks + shown[i].width
		}
		if len(group) > width {
			group = ""
		}
		any = any || group != ""
		line += strings.Repeat(" ", blanks) + Pad(strings.Repeat(" ", (width-len(group)+1)/2)+group, width)
	}
	if !any {
		return ""
	}
	return line
}

func rowLine(cells []Figure, shown []shownColumn) string {
	var b strings.Builder
	for _, c := range shown {
		f := cells[c.index]
		b.WriteString(strings.Repeat(" ", c.blanks+c.width-ansi.StringWidth(f.Text)) + f.Style.Render(f.Text))
	}
	return b.String()
}
