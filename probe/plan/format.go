package plan

import (
	"math"
	"strconv"
	"strings"

	"sonde/probe/opt"
)

// unknown stands for a figure that is not known.
const unknown = "—"

// figure writes a number with up to four digits that count: 240, 1.44M, 16.9k.
func figure(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	text, unit := scaled(f.V, 1000, []string{"", "k", "M", "G", "T", "P"})
	return text + unit
}

// sized writes bytes in the units of memory, 1 GiB = 2³⁰.
func sized(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	text, unit := scaled(f.V, 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"})
	return text + " " + unit
}

// percent writes a fraction.
func percent(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	text, unit := scaled(f.V*100, 1000, []string{"", "k", "M", "G", "T", "P"})
	return text + unit + " %"
}

// scaled divides v by the step until it is below one, and rounds it to four
// digits that count.
func scaled(v, step float64, units []string) (text, unit string) {
	unit = units[0]
	for _, next := range units[1:] {
		// 999.96 would be written as 1000.
		if math.Abs(v) < step-0.05 {
			break
		}
		v, unit = v/step, next
	}
	text = strconv.FormatFloat(v, 'g', 4, 64)
	if strings.Contains(text, "e") {
		text = strconv.FormatFloat(v, 'e', 2, 64)
	}
	return text, unit
}
