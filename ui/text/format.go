package text

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"sonde/probe/opt"
)

// Unknown stands for a value nobody reported. It is never replaced by a zero.
const Unknown = "—"

// Unit is one unit for all latencies of a panel, so that its numbers can be
// compared at a glance.
type Unit struct {
	Name  string
	perMS float64
}

var (
	Microseconds = Unit{"µs", 1000}
	Milliseconds = Unit{"ms", 1}
	Seconds      = Unit{"s", 0.001}
)

// UnitFor picks the unit in which a typical latency of ms milliseconds reads
// best. It stays with milliseconds while that is legible.
func UnitFor(ms float64) Unit {
	switch {
	case ms > 0 && ms < 0.5:
		return Microseconds
	case ms >= 10_000:
		return Seconds
	}
	return Milliseconds
}

// Of formats ms milliseconds in the unit.
func (u Unit) Of(ms float64) string { return Sig3(ms * u.perMS) }

// With is Of with the name of the unit.
func (u Unit) With(ms float64) string { return u.Of(ms) + " " + u.Name }

// Label writes ms milliseconds for an axis of the unit: 2 000, 0.01.
func (u Unit) Label(ms float64) string {
	v := ms * u.perMS
	if math.Abs(v) >= 999.5 || v == 0 {
		return Group(v)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Sig3 writes three significant digits below 1000 and whole grouped numbers
// above. The number of decimals follows from the rounded value, so that 9.996
// becomes 10.0 and 999.6 becomes 1 000.
func Sig3(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	if v == 0 {
		return "0"
	}
	a := math.Abs(v)
	switch {
	case a < 0.0095:
		return "<0.01"
	case a < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return Group(v)
}

// Tenth writes one decimal.
func Tenth(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// Sig2 is for rates below ten and whole numbers above: 4.4, 12, 1 142.
func Sig2(v float64) string {
	if v != 0 && math.Abs(v) < 9.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return Group(v)
}

// Group writes a whole number with blanks between thousands: 1 210.
func Group(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	s := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	if s == "-0" {
		s = "0"
	}
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	out := s
	for at := len(s) - 3; at > 0; at -= 3 {
		out = out[:at] + " " + out[at:]
	}
	return sign + out
}

// Short writes large quantities for narrow axes: 950, 1.2k, 34k, 1.5M.
func Short(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 999_500:
		return trimZero(v/1e6) + "M"
	case a >= 9_950:
		return strconv.FormatFloat(v/1000, 'f', 0, 64) + "k"
	case a >= 999.5:
		return trimZero(v/1000) + "k"
	case a >= 9.95 || a == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return trimZero(v)
}

// trimZero writes at most one decimal and drops a lone ".0".
func trimZero(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	if n := len(s) - 2; s[n:] == ".0" {
		return s[:n]
	}
	return s
}

// Percent writes a fraction of 0 to 1. A value that cannot be a fraction is
// unknown, not 150 %.
func Percent(f opt.Float) string {
	if !f.OK || f.V < 0 || f.V > 1.005 {
		return Unknown
	}
	return strconv.FormatFloat(math.Round(f.V*100), 'f', 0, 64) + " %"
}

// Known formats a value that may be unknown.
func Known(f opt.Float, format func(float64) string) string {
	if !f.OK {
		return Unknown
	}
	return format(f.V)
}

// GiB writes bytes in GiB.
func GiB(bytes float64) string {
	return strconv.FormatFloat(bytes/(1<<30), 'f', 1, 64)
}

// Span writes a duration with its unit: 850 ms, 8.3 s, 2.5 min.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 100*time.Second:
		return trimZero(d.Seconds()) + " s"
	}
	return trimZero(d.Minutes()) + " min"
}

// Clock writes a session's age: 00:04:12.
func Clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}
