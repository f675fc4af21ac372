package sweep

import (
	"fmt"
	"math"
	"strconv"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// Describe names a load in words: "16 streams", "4 requests/s".
func Describe(l frame.Load) string {
	if l.Rate > 0 {
		return amount(l) + " requests/s"
	}
	if l.Concurrency == 1 {
		return "1 stream"
	}
	return amount(l) + " streams"
}

// does says what a load does: "16 streams meet", "1 stream meets".
func does(l frame.Load, verb, ending string) string {
	if l.Rate == 0 && l.Concurrency == 1 {
		verb += ending
	}
	return Describe(l) + " " + verb
}

// amount is the load's number alone.
func amount(l frame.Load) string {
	return strconv.FormatFloat(math.Round(Amount(l)*1000)/1000, 'f', -1, 64)
}

// unit is what a load is counted in, one of it and several.
func unit(l frame.Load) (one, several string) {
	if l.Rate > 0 {
		return "request/s", "requests/s"
	}
	return "stream", "streams"
}

// figure is a number that may be unknown.
func figure(f opt.Float) string {
	if !f.OK {
		return "—"
	}
	return number(f.V)
}

// number writes a figure with about three significant digits.
func number(v float64) string {
	switch size := math.Abs(v); {
	case size >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case size >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
