package page

import (
	"fmt"
	"strings"
)

// Markdown collects a report as Markdown.
type Markdown struct{ out strings.Builder }

// String is all that was written.
func (m *Markdown) String() string { return m.out.String() }

// Linef writes a line of Markdown as it is.
func (m *Markdown) Linef(format string, args ...any) { fmt.Fprintf(&m.out, format+"\n", args...) }

// Section writes a section; nothing if there is nothing in it.
func (m *Markdown) Section(s Section) {
	if len(s.Rows)+len(s.Lines)+len(s.Items) == 0 {
		return
	}
	if s.Title != "" {
		m.Linef("\n### %s", Escape(strings.ToUpper(s.Title[:1])+s.Title[1:]))
	}
	if len(s.Rows) > 0 {
		m.table(&s)
	}
	for _, line := range s.Lines {
		m.Linef("\n%s", Escape(line))
	}
	if len(s.Items) > 0 {
		m.out.WriteByte('\n')
	}
	for _, item := range s.Items {
		m.item("", item)
	}
}

func (m *Markdown) table(s *Section) {
	heads, rule := "|", "|"
	for i := range s.Columns {
		heads += " " + Escape(s.Columns[i].Title) + " |"
		if s.Columns[i].Left {
			rule += "---|"
		} else {
			rule += "--:|"
		}
	}
	m.Linef("\n%s\n%s", heads, rule)
	for _, row := range s.Rows {
		line := "|"
		for _, cell := range row {
			line += " " + Escape(strings.TrimSpace(cell)) + " |"
		}
		m.Linef("%s", line)
	}
}

// item writes an entry. Of a mark only what is not drawn for text stays: a number, an arrow.
func (m *Markdown) item(indent string, i Item) {
	mark := strings.TrimLeft(i.Mark, " -▲")
	m.Linef("%s- %s%s", indent, mark, Escape(i.Text))
	for _, sub := range i.Sub {
		m.item(indent+"  ", sub)
	}
}

// Escape keeps text in one line and from being read as Markdown or HTML.
func Escape(s string) string { return escaper.Replace(Plain(s)) }

var escaper = strings.NewReplacer(`\`, `\\`, "|", `\|`, "&", "&amp;", "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "~", `\~`)
