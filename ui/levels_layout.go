package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// shownColumn is a column that has room, with its width and the blanks before it.
type shownColumn struct{ index, width, blanks int }

// shownColumns are the first column and those after the shift, as many as fit; the
// room that is left stands before the groups.
func shownColumns(cells [][]figure, shift, w int) []shownColumn {
	var shown []shownColumn
	used, groups := 0, 0
	for i := range levelColumns {
		if i > 0 && i <= shift {
			continue
		}
		c := shownColumn{i, columnWidth(cells, i), 1}
		if used+c.width+c.blanks > w {
			break
		}
		used += c.width + c.blanks
		shown = append(shown, c)
		if startsGroup(shown) {
			groups++
		}
	}
	wider := w-used >= groups
	for i := range shown {
		if wider && startsGroup(shown[:i+1]) {
			shown[i].blanks++
		}
	}
	return shown
}

// startsGroup tells whether the last of the columns belongs to another group than the
// one before it.
func startsGroup(shown []shownColumn) bool {
	if len(shown) < 2 {
		return false
	}
	own, before := levelColumns[shown[len(shown)-1].index].group, levelColumns[shown[len(shown)-2].index].group
	return own == "" || own != before
}

// columnWidth is the room for the longest figure, and for the head.
func columnWidth(cells [][]figure, i int) int {
	c := levelColumns[i]
	width := len(c.name)
	alone := i == 0 || i == len(levelColumns)-1 || levelColumns[i-1].group != c.group && levelColumns[i+1].group != c.group
	if alone {
		width = max(width, len(c.group))
	}
	for _, row := range cells {
		width = max(width, ansi.StringWidth(row[i].text))
	}
	return width
}

// groupLine writes the names of the groups, each in the middle over its columns.
func (t *theme) groupLine(columns []shownColumn) string {
	line := ""
	for i := 0; i < len(columns); {
		group, width := levelColumns[columns[i].index].group, 0
		blanks := columns[i].blanks
		for first := i; i < len(columns) && levelColumns[columns[i].index].group == group; i++ {
			width += columns[i].width
			if i > first {
				width += columns[i].blanks
			}
			if group == "" {
				i++
				break
			}
		}
		if len(group) > width {
			group = ""
		}
		line += strings.Repeat(" ", blanks) + pad(strings.Repeat(" ", (width-len(group)+1)/2)+group, width)
	}
	return t.dim.Render(line)
}

func (t *theme) headLine(columns []shownColumn) string {
	line := ""
	for _, c := range columns {
		line += strings.Repeat(" ", c.blanks) + right(levelColumns[c.index].name, c.width)
	}
	return t.dim.Render(line)
}

// rowLine writes a row; the first blank is left to a sign before it.
func rowLine(cells []figure, columns []shownColumn) string {
	var b strings.Builder
	for i, c := range columns {
		f := cells[c.index]
		blanks := c.blanks + c.width - ansi.StringWidth(f.text)
		if i == 0 {
			blanks--
		}
		b.WriteString(strings.Repeat(" ", max(0, blanks)) + f.style.Render(f.text))
	}
	return b.String()
}
