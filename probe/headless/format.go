package headless

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"sonde/probe/opt"
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
	return plain(string(t))
}

// plain takes out everything that could steer a terminal: texts come from
// servers.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
}
