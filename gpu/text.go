package gpu

import (
	"strings"

	"sonde/probe/plain"
)

const maxLabelRunes = 120

// clean makes text from a driver or an exporter safe to show.
func clean(s string) string { return plain.Line(s, maxLabelRunes) }

// joinNotes puts what is to be said into one line, leaving out what is empty.
func joinNotes(notes ...string) string {
	var said []string
	for _, n := range notes {
		if n != "" {
			said = append(said, n)
		}
	}
	return strings.Join(said, "; ")
}
