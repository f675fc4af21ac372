// Package record writes Frames to a file as they happen, and reads them back.
//
// The file is JSON lines: a header, then a line for every request that ended and
// a line for every Frame, in their order. Keys hold their units. Nothing in it
// is secret, and no generated text is kept.
package record

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Schema names the form of the file.
const Schema = "sonde/record/1"

// Types of lines.
const (
	typeHeader  = "header"
	typeFrame   = "frame"
	typeRequest = "request"
)

// Header says what was recorded and with which settings.
type Header struct {
	Started time.Time       `json:"started,omitzero"`
	Version string          `json:"version,omitempty"` // of the program
	URL     string          `json:"url"`
	Seed    uint64          `json:"seed"`
	Command string          `json:"command,omitempty"` // "live", "bench", …
	Plan    json.RawMessage `json:"plan,omitempty"`    // settings of the command, without secrets
}

// millis is a duration as milliseconds, exact to the nanosecond.
type millis time.Duration

func (d millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(d)/1e6, 'f', -1, 64), nil
}

func (d *millis) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > math.MaxInt64/1e6 {
		return fmt.Errorf("%q is no duration in milliseconds", b)
	}
	*d = millis(math.Round(v * 1e6))
	return nil
}

// gaps are milliseconds, kept to the microsecond: more digits are noise.
type gaps []float32

func (g gaps) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range g {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendMicros(out, float64(v))
	}
	return append(out, ']'), nil
}

// samples are milliseconds, kept to the microsecond.
type samples []float64

func (s samples) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range s {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendMicros(out, v)
	}
	return append(out, ']'), nil
}

func appendMicros(out []byte, ms float64) []byte {
	if math.IsNaN(ms) || math.IsInf(ms, 0) {
		ms = 0
	}
	return strconv.AppendFloat(out, math.Round(ms*1000)/1000, 'f', -1, 64)
}

// finite is a number that JSON can hold; what it cannot hold becomes 0.
type finite float64

func (f finite) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return []byte("0"), nil
	}
	return json.Marshal(float64(f))
}
