package page

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Text collects lines of at most Width cells. Without Color it holds no escape codes.
type Text struct {
	Width int
	Color bool

	out strings.Builder
}

// String is all that was written.
func (t *Text) String() string { return t.out.String() }

// Line writes one line and cuts what does not fit.
func (t *Text) Line(text string) {
	t.out.WriteString(ansi.Truncate(strings.TrimRight(text, " "), t.Width, "…"))
	t.out.WriteByte('\n')
}

// Bold is s in bold type.
func (t *Text) Bold(s string) string { return t.styled("1", s) }

func (t *Text) styled(code, s string) string {
	if !t.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Section writes a section after an empty line; nothing if there is nothing in it.
func (t *Text) Section(s Section) {
	if len(s.Rows)+len(s.Lines)+len(s.Items) == 0 {
		return
	}
	t.out.WriteByte('\n')
	if len(s.Rows) == 0 {
		t.Line(t.Bold(s.Title))
	} else {
		t.table(&s)
	}
	for _, line := range s.Lines {
		t.Line(Plain(line))
	}
	for _, item := range s.Items {
		t.item(item)
	}
}

func (t *Text) table(s *Section) {
	shown := fitting(s.Columns, t.Width)
	head := ""
	for _, i := range shown {
		head += s.Columns[i].fill(s.Columns[i].Title)
	}
	t.Line(t.Bold(strings.TrimRight(head, " ")))
	for _, row := range s.Rows {
		line := ""
		for _, i := range shown {
			cell := s.Columns[i].fill(row[i])
			if strings.HasSuffix(cell, Weak) {
				cell = t.styled("2", cell)
			}
			line += cell
		}
		t.Line(line)
	}
}

// fill brings a cell to the width of its column. A figure leaves room for the mark Weak.
func (c *Column) fill(cell string) string {
	cell = Plain(cell)
	blanks := strings.Repeat(" ", max(0, c.Width-ansi.StringWidth(cell)))
	switch {
	case c.Left:
		return cell + blanks
	case strings.HasSuffix(cell, Weak) || blanks == "":
		return blanks + cell
	}
	return blanks[1:] + cell + " "
}

// fitting are the columns that fit, by index.
func fitting(columns []Column, width int) []int {
	var shown []int
	total := 0
	for i, c := range columns {
		shown = append(shown, i)
		total += c.Width
	}
	for total > width {
		worst := 0
		for at, i := range shown {
			if columns[i].Rank >= columns[shown[worst]].Rank {
				worst = at
			}
		}
		c := &columns[shown[worst]]
		if c.Rank == 0 {
			break
		}
		total -= c.Width
		shown = append(shown[:worst], shown[worst+1:]...)
	}
	return shown
}

// item writes an entry, wrapped with a hanging indent.
func (t *Text) item(i Item) {
	mark, indent := Plain(i.Mark), strings.Repeat(" ", ansi.StringWidth(i.Mark))
	body := ansi.Wrap(Plain(i.Text), max(10, t.Width-len(indent)), "")
	for _, row := range strings.Split(body, "\n") {
		t.Line(mark + row)
		mark = indent
	}
	for _, sub := range i.Sub {
		t.item(sub)
	}
}
