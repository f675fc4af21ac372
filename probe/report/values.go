package report

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"sonde/probe/opt"
)

// Number is a figure that may be unknown, which is null in JSON.
type Number = opt.Float

// Rounded rounds to a ten-thousandth: 0.1 µs, far below what can be measured.
func Rounded(f opt.Float) Number { return rounded(f, 1e4) }

// RoundedShare rounds a fraction to a millionth.
func RoundedShare(f opt.Float) Number { return rounded(f, 1e6) }

func rounded(f opt.Float, steps float64) Number {
	if !f.OK {
		return f
	}
	return opt.Of(math.Round(f.V*steps) / steps)
}

// Text is a word that may be unknown: "" is null in JSON.
type Text string

// MarshalJSON writes null for an unknown word.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// Instant is a moment of wall time; the zero time is null in JSON.
type Instant struct{ time.Time }

// MarshalJSON writes UTC with milliseconds.
func (i Instant) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(i.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}

// iff formats the note if it applies, else it is empty.
func iff(applies bool, format string, args ...any) string {
	if !applies {
		return ""
	}
	return fmt.Sprintf(format, args...)
}
