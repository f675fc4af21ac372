// Package page writes reports for people: sections of tables, lines and lists, as text
// for a terminal or as Markdown.
package page

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
