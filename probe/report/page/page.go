// Package page writes reports for people: sections of tables, lines and lists, as text
// for a terminal or as Markdown.
package page

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Section is a part of a report. Texts are plain: Markdown's own signs are escaped.
type Section struct {
	Title   string   // of a section without a table; in Markdown of any
	Columns []Column // of the table
	Rows    [][]string
	Lines   []string // under the table
	Items   []Item
}

// Column is one column of a table. Without Left its cells are aligned to the right.
type Column struct {
	Title string
	Width int // at least; for text
	Left  bool
	Rank  int // where the line is narrow the columns with the highest rank are omitted first; 0 never is
}

// Item is an entry of a list. The marks are those of text.
type Item struct {
	Mark, Text string
	Sub        []Item
}

// Weak follows a figure that rests on little: text shows it dim.
const Weak = "?"

// Plain is a text in one line that cannot steer a terminal: texts come from
// servers.
func Plain(s string) string {
	return Visible(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, s))
}

// Visible writes control characters as escapes that can be read, except the ends of
// lines. Characters that reverse the direction of writing are among them: they make
// a text look like another.
func Visible(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// Table is a section whose first column holds names, under the title. Columns are as wide
// as their widest cell.
func Table(title string, figures []string, rows ...[]string) Section {
	s := Section{Title: title, Columns: []Column{{Title: title, Left: true}}, Rows: rows}
	for _, figure := range figures {
		s.Columns = append(s.Columns, Column{Title: figure})
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		c.Width = ansi.StringWidth(c.Title)
		for _, row := range rows {
			c.Width = max(c.Width, ansi.StringWidth(row[i]))
		}
		c.Width += 2
	}
	s.Columns[0].Width--
	return s
}
