package report

import (
	"fmt"
	"math"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/report/page"
)

// unknown stands for a figure that is not known.
const unknown = "—"

// figure writes a number with about three significant digits.
func figure(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	switch size := math.Abs(f.V); {
	case size >= 99.95:
		return fmt.Sprintf("%.0f", f.V)
	case size >= 9.995:
		return fmt.Sprintf("%.1f", f.V)
	}
	return fmt.Sprintf("%.2f", f.V)
}

// whole writes a number without decimals.
func whole(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	return fmt.Sprintf("%.0f", f.V)
}

// grouped writes a figure, a large one with commas.
func grouped(f opt.Float) string { return commas(figure(f)) }

// count writes a whole number with commas.
func count(f opt.Float) string { return commas(whole(f)) }

func commas(text string) string {
	if text == unknown || strings.Contains(text, ".") {
		return text
	}
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// percent writes a fraction.
func percent(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	return figure(f.Scale(100)) + " %"
}

// gib writes bytes in GiB.
func gib(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	return figure(f.Scale(1.0/(1<<30))) + " GiB"
}

// word writes a word that may be unknown.
func word(t Text) string {
	if t == "" {
		return unknown
	}
	return page.Plain(string(t))
}
