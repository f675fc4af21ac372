// Package units writes numbers with their units: the one place that decides how many digits
// a reader sees, and where the blanks stand.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sonde/probe/opt"
)

// Unknown stands for a value nobody reported. It is never replaced by a zero.
const Unknown = "—"

// Known formats a value that may be unknown.
func Known(f opt.Float, format func(float64) string) string {
	if !f.OK {
		return Unknown
	}
	return format(f.V)
}

// Digits3 writes about three significant digits, for sentences and reports: 0.42, 14.1, 1234.
func Digits3(v float64) string {
	return strconv.FormatFloat(v, 'f', decimals(v), 64)
}

// decimals follows from the rounded value, so that 9.996 becomes 10.0 and not 10.00.
func decimals(v float64) int {
	switch a := math.Abs(v); {
	case a < 9.995:
		return 2
	case a < 99.95:
		return 1
	}
	return 0
}

// Sig3 is Digits3 for a screen, where a digit that means nothing is noise and a large number
// must be legible at a glance: 0, <0.01, 14.1, 1.21k.
func Sig3(v float64) string {
	a := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case a < 0.0095:
		return "<0.01"
	case a < 999.5:
		return Digits3(v)
	}
	return Tally(v)
}

// Sig2 is for rates below ten and whole numbers above: 4.4, 12, 1.14k.
func Sig2(v float64) string {
	if v != 0 && math.Abs(v) < 9.95 {
		return Tenth(v)
	}
	return Tally(v)
}

// Tenth writes one decimal.
func Tenth(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// Whole writes a number without decimals.
func Whole(v float64) string {
	if text := strconv.FormatFloat(math.Round(v), 'f', 0, 64); text != "-0" {
		return text
	}
	return "0"
}

// Exact writes up to three decimals, and none that are zero: a load that somebody chose.
func Exact(v float64) string {
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

// Tally writes a whole number that was measured or counted, a large one with three digits:
// 12, 950, 1.21k, 28.5k, 1.50M. A number that somebody chose is written in full: see Whole.
func Tally(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	unit := ""
	for _, next := range []string{"k", "M", "G", "T"} {
		if math.Abs(v) < 999.5 {
			break
		}
		v, unit = v/1000, next
	}
	if unit == "" {
		return Whole(v)
	}
	return Digits3(v) + unit
}

// Commas is Digits3 with commas between thousands, for text that is copied elsewhere: 1,210.
func Commas(v float64) string { return grouped(Digits3(v), ",") }

// WholeCommas is Whole with commas between thousands: a count in text that is copied elsewhere.
func WholeCommas(v float64) string { return grouped(Whole(v), ",") }

// grouped parts the thousands of a number; one with decimals is small.
func grouped(s, mark string) string {
	if strings.Contains(s, ".") {
		return s
	}
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + mark + s[at:]
	}
	return s
}

// Short writes large quantities for narrow axes: 950, 1.2k, 34k, 1.5M.
func Short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 999_500:
		return trimmed(v/1e6) + "M"
	case a >= 9_950:
		return Whole(v/1000) + "k"
	case a >= 999.5:
		return trimmed(v/1000) + "k"
	case a >= 9.95:
		return Whole(v)
	}
	return trimmed(v)
}

// Digits4 writes up to four significant digits: 0.25, 240, 16.9k, 1.44M.
func Digits4(v float64) string {
	text, unit := scaled(v, 1000, []string{"", "k", "M", "G", "T", "P"})
	return text + unit
}

// Bytes writes bytes with up to four significant digits in the units of memory: 128 KiB.
func Bytes(v float64) string {
	text, unit := scaled(v, 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"})
	return text + " " + unit
}

// scaled divides v by the step until it is below one.
func scaled(v, step float64, units []string) (text, unit string) {
	unit = units[0]
	for _, next := range units[1:] {
		if math.Abs(v) < step-0.05 { // 999.96 would be written as 1000
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

// trimmed writes at most one decimal, and no lone ".0".
func trimmed(v float64) string { return strings.TrimSuffix(Tenth(v), ".0") }

// Percent writes a fraction of 0 to 1 as whole percent. A value that cannot be a fraction is
// unknown, not 150 %.
func Percent(f opt.Float) string {
	if !f.OK || f.V < 0 || f.V > 1.005 {
		return Unknown
	}
	return WholePercent(f.V)
}

// WholePercent is for shares that exceed 100 % where more than what was assumed is there.
func WholePercent(share float64) string { return Whole(100*share) + " %" }

// Share writes a fraction in a sentence; a small one is not rounded to nothing: 2.3 %, 63 %.
func Share(share float64) string { return Sig2(100*share) + " %" }

// Percent3 writes a fraction in a report: 2.30 %, 63.4 %.
func Percent3(share float64) string { return Digits3(100*share) + " %" }

// Ratio writes how many times as much: 1.5 times, 12 times.
func Ratio(ratio float64) string { return Sig2(ratio) + " times" }

// Count writes how many of something there are: 1 stream, 2 streams.
func Count[N int | float64](n N, one string) string {
	if text := Whole(float64(n)); text != "1" {
		return text + " " + one + "s"
	}
	return "1 " + one
}

// Millis writes milliseconds with three digits, in the unit in which they read best: 420 µs,
// 14.1 ms, 412 ms, 2.44 s.
func Millis(ms float64) string { return LatencyFor(ms, ms).With(ms) }

// Span writes a duration that somebody chose: 850 ms, 8.3 s, 2.5 min, 3 h.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 100*time.Second:
		return trimmed(d.Seconds()) + " s"
	}
	if d >= 100*time.Minute {
		return trimmed(d.Hours()) + " h"
	}
	return trimmed(d.Minutes()) + " min"
}

// Until writes when a wait that begins now ends, in local time: 17:20, or 3 Dec 17:20 where
// that is not within the next twelve hours.
func Until(now time.Time, wait time.Duration) string {
	form := "15:04"
	if wait > 12*time.Hour {
		form = "2 Jan 15:04"
	}
	return now.Add(wait).Local().Format(form)
}

// Elapsed writes a time that goes on in seconds, rounded down: it has been that long.
func Elapsed(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }

// Clock writes a session's age: 00:04:12.
func Clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Latency is the unit of all latencies of a panel, so that its numbers can be compared at a
// glance.
type Latency struct {
	Name  string
	perMS float64
	above *Latency // the next larger unit
}

var (
	Seconds      = Latency{Name: "s", perMS: 0.001}
	Milliseconds = Latency{Name: "ms", perMS: 1, above: &Seconds}
	Microseconds = Latency{Name: "µs", perMS: 1000, above: &Milliseconds}
)

// LatencyFor picks the unit for latencies from low to high milliseconds: microseconds if all
// are below a millisecond, seconds if none is below a second.
func LatencyFor(low, high float64) Latency {
	switch {
	case high > 0 && high < 0.9995:
		return Microseconds
	case low >= 999.5:
		return Seconds
	}
	return Milliseconds
}

// outgrown is the unit in which ms milliseconds are written: a larger one if they are a thousand
// or more of this one.
func (u Latency) outgrown(ms float64) Latency {
	for u.above != nil && math.Abs(ms*u.perMS) >= 999.5 {
		u = *u.above
	}
	return u
}

// suffix is the name of the unit in which ms milliseconds are written, if it is not this one.
func (u Latency) suffix(ms float64) string {
	if own := u.outgrown(ms); own.Name != u.Name {
		return own.Name
	}
	return ""
}

// Of formats ms milliseconds in the unit. A number that is too large for it has its own unit,
// without a blank: 14.1, 412, 2.44s.
func (u Latency) Of(ms float64) string {
	return Sig3(ms*u.outgrown(ms).perMS) + u.suffix(ms)
}

// With is Of with the name of the unit: 412 ms, 2.44 s.
func (u Latency) With(ms float64) string {
	own := u.outgrown(ms)
	return Sig3(ms*own.perMS) + " " + own.Name
}

// Label writes ms milliseconds for an axis of the unit: 0.01, 500, 2s.
func (u Latency) Label(ms float64) string {
	v := ms * u.outgrown(ms).perMS
	if math.Abs(v) >= 999.5 {
		return Tally(v) + u.suffix(ms)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64) + u.suffix(ms)
}

// GiB writes bytes in GiB, the unit of all memory on the screen.
func GiB(bytes float64) string { return Tenth(bytes / (1 << 30)) }
