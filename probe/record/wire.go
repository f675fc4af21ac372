package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
	"unsafe"
)

// wire writes and reads values of T. Keys and units stand in the tags of the recorded
// types; what a tag cannot say goes by type: a duration is milliseconds, and a number
// that JSON cannot hold is null.
//
// It does so through a twin of T: a struct type with the same fields in the same places,
// whose leaves know their JSON form. A pointer to a T is then a pointer to its twin, and
// no figure is copied.
type wire[T any] struct{ twin reflect.Type }

func wireOf[T any]() wire[T] { return wire[T]{twinOf(reflect.TypeFor[T]())} }

func (w wire[T]) marshal(v *T) ([]byte, error) {
	return json.Marshal(reflect.NewAt(w.twin, unsafe.Pointer(v)).Interface())
}

func (w wire[T]) unmarshal(line []byte, v *T) error {
	return json.Unmarshal(line, reflect.NewAt(w.twin, unsafe.Pointer(v)).Interface())
}

// leaves are the types whose JSON form is not that of encoding/json.
var leaves = map[reflect.Type]reflect.Type{
	reflect.TypeFor[time.Duration](): reflect.TypeFor[millis](),
	reflect.TypeFor[float64]():       reflect.TypeFor[number](),
	reflect.TypeFor[[]float32]():     reflect.TypeFor[samples[float32]](),
	reflect.TypeFor[[]float64]():     reflect.TypeFor[samples[float64]](),
}

// twinOf is t itself where nothing in it needs another form.
func twinOf(t reflect.Type) reflect.Type {
	if leaf, ok := leaves[t]; ok {
		return leaf
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return t // it knows its form
	}
	switch t.Kind() {
	case reflect.Struct:
		return structTwin(t)
	case reflect.Pointer:
		if twin := twinOf(t.Elem()); twin != t.Elem() {
			return reflect.PointerTo(twin)
		}
	case reflect.Slice:
		if twin := twinOf(t.Elem()); twin != t.Elem() {
			return reflect.SliceOf(twin)
		}
	case reflect.Map:
		if twin := twinOf(t.Elem()); twin != t.Elem() {
			return reflect.MapOf(t.Key(), twin)
		}
	}
	return t
}

func structTwin(t reflect.Type) reflect.Type {
	fields, differs := make([]reflect.StructField, t.NumField()), false
	for i := range fields {
		f := t.Field(i)
		if f.Tag.Get("json") != "-" {
			twin := twinOf(f.Type)
			differs = differs || twin != f.Type
			f.Type = twin
		}
		fields[i] = f
	}
	if !differs {
		return t
	}
	twin := reflect.StructOf(fields)
	for i := range fields {
		if twin.Field(i).Offset != t.Field(i).Offset || twin.Size() != t.Size() {
			panic("record: the twin of " + t.String() + " lies otherwise in memory")
		}
	}
	return twin
}

// millis is a duration as milliseconds, exact to the nanosecond.
type millis time.Duration

func (d millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(d)/1e6, 'f', -1, 64), nil
}

func (d *millis) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > math.MaxInt64/1e6 {
		return fmt.Errorf("%q is not a duration in milliseconds", b)
	}
	*d = millis(math.Round(v * 1e6))
	return nil
}

// number is null where JSON cannot hold it, and not a number where it is null.
type number float64

func (n number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(n)), nil }

func (n *number) UnmarshalJSON(b []byte) error {
	v, err := parseNumber(b)
	*n = number(v)
	return err
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

// samples are milliseconds, kept to the microsecond: more digits are noise.
type samples[F float32 | float64] []F

func (s samples[F]) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range s {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendNumber(out, math.Round(float64(v)*1000)/1000)
	}
	return append(out, ']'), nil
}

func (s *samples[F]) UnmarshalJSON(b []byte) error {
	inside, ok := bytes.CutPrefix(b, []byte{'['})
	if !ok {
		return nil // null
	}
	inside = bytes.TrimSuffix(inside, []byte{']'})
	*s = make(samples[F], 0, 1+bytes.Count(inside, []byte{','}))
	for len(inside) > 0 {
		one, rest, _ := bytes.Cut(inside, []byte{','})
		v, err := parseNumber(bytes.TrimSpace(one))
		if err != nil {
			return err
		}
		*s, inside = append(*s, F(v)), rest
	}
	return nil
}
