package chart

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Fit returns exactly h lines of exactly w cells: longer text is cut, shorter padded with
// blanks. It counts cells, not bytes, and keeps styles.
func Fit(lines []string, w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	fitted := make([]string, h)
	for i := range fitted {
		if i < len(lines) {
			fitted[i] = ansi.Truncate(lines[i], w, "")
		}
		fitted[i] += strings.Repeat(" ", max(0, w-ansi.StringWidth(fitted[i])))
	}
	return fitted
}
