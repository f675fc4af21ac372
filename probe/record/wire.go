package record

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// wire is how recorded values become JSON. Keys and units stand in the tags of their
// types; what a tag cannot say goes by type: a duration is milliseconds, and a number
// that JSON cannot hold is null. The rest is as encoding/json has it.
var wire = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalFunc(func(d time.Duration) ([]byte, error) {
			return strconv.AppendFloat(nil, float64(d)/1e6, 'f', -1, 64), nil
		}),
		json.MarshalFunc(func(v float64) ([]byte, error) { return appendNumber(nil, v), nil }),
		json.MarshalFunc(appendSamples[float32]),
		json.MarshalFunc(appendSamples[float64]),
	)),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFunc(parseMillis),
		json.UnmarshalFunc(func(b []byte, v *float64) (err error) {
			*v, err = parseNumber(b)
			return err
		}),
		json.UnmarshalFunc(parseSamples[float32]),
		json.UnmarshalFunc(parseSamples[float64]),
	)),
)

func marshal(v any) ([]byte, error) { return json.Marshal(v, wire) }

func unmarshal(line []byte, v any) error { return json.Unmarshal(line, v, wire) }

// parseMillis reads milliseconds, exact to the nanosecond.
func parseMillis(b []byte, d *time.Duration) error {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > math.MaxInt64/1e6 {
		return fmt.Errorf("%q is not a duration in milliseconds", b)
	}
	*d = time.Duration(math.Round(v * 1e6))
	return nil
}

func appendNumber(out []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(out, "null"...)
	}
	return strconv.AppendFloat(out, v, 'f', -1, 64)
}

func parseNumber(b []byte) (float64, error) {
	if string(b) == "null" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(string(b), 64)
}

// appendSamples writes milliseconds to the microsecond: more digits are noise.
func appendSamples[F float32 | float64](samples []F) ([]byte, error) {
	out := []byte{'['}
	for i, v := range samples {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendNumber(out, math.Round(float64(v)*1000)/1000)
	}
	return append(out, ']'), nil
}

func parseSamples[F float32 | float64](b []byte, samples *[]F) error {
	inside, ok := bytes.CutPrefix(b, []byte{'['})
	if !ok {
		return nil // null
	}
	inside = bytes.TrimSuffix(inside, []byte{']'})
	*samples = make([]F, 0, 1+bytes.Count(inside, []byte{','}))
	for len(inside) > 0 {
		one, rest, _ := bytes.Cut(inside, []byte{','})
		v, err := parseNumber(bytes.TrimSpace(one))
		if err != nil {
			return err
		}
		*samples, inside = append(*samples, F(v)), rest
	}
	return nil
}
