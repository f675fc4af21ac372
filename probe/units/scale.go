package units

import (
	"math"
	"strconv"
	"strings"
)

// Latency is one unit for all latencies of a panel, so that its numbers can be compared at a
// glance.
type Latency struct {
	Name  string
	perMS float64
}

var (
	Microseconds = Latency{"µs", 1000}
	Milliseconds = Latency{"ms", 1}
	Seconds      = Latency{"s", 0.001}
)

// LatencyFor picks the unit in which a typical latency of ms milliseconds reads best. It
// stays with milliseconds while that is legible.
func LatencyFor(ms float64) Latency {
	switch {
	case ms > 0 && ms < 0.5:
		return Microseconds
	case ms >= 10_000:
		return Seconds
	}
	return Milliseconds
}

// Of formats ms milliseconds in the unit.
func (u Latency) Of(ms float64) string { return Sig3(ms * u.perMS) }

// With is Of with the name of the unit.
func (u Latency) With(ms float64) string { return u.Of(ms) + " " + u.Name }

// Label writes ms milliseconds for an axis of the unit: 2 000, 0.01.
func (u Latency) Label(ms float64) string {
	v := ms * u.perMS
	if math.Abs(v) >= 999.5 || v == 0 {
		return Group(v)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// GiB writes bytes in GiB, the unit of all memory on the screen.
func GiB(bytes float64) string { return Tenth(bytes / (1 << 30)) }

// Bytes writes bytes in the unit of memory that suits them, 1 GiB = 2³⁰.
func Bytes(v float64) string { return scaled(v, 1024, " B", " KiB", " MiB", " GiB", " TiB", " PiB") }

// SI writes a number of any size with up to four digits that count: 240, 1.44M, 16.9k.
func SI(v float64) string { return scaled(v, 1000, "", "k", "M", "G", "T", "P") }

// scaled divides v by the step until it is below one, and rounds it to four digits that count.
func scaled(v, step float64, units ...string) string {
	at := 0
	// 999.96 would be written as 1000.
	for ; at+1 < len(units) && math.Abs(v) >= step-0.05; at++ {
		v /= step
	}
	text := strconv.FormatFloat(v, 'g', 4, 64)
	if strings.Contains(text, "e") {
		text = strconv.FormatFloat(v, 'e', 2, 64)
	}
	return text + units[at]
}
