package kinds

import (
	"encoding/json"
	"errors"

	"sonde/probe/opt"
)

// Object is a JSON object whose fields differ from server to server.
type Object map[string]any

// Text is a field that is a string; "" if it is not.
func (o Object) Text(key string) string {
	s, _ := o[key].(string)
	return s
}

// Number is a field that is a number; 0 if it is not.
func (o Object) Number(key string) float64 {
	n, _ := o[key].(float64)
	return n
}

// Figure is a number that is there and not negative: engines write -1 for none.
func (o Object) Figure(key string) opt.Float {
	n, is := o[key].(float64)
	if !is || n < 0 {
		return opt.Float{}
	}
	return opt.Of(n)
}

// Object is a field that is an object; nil if it is not.
func (o Object) Object(key string) Object {
	m, _ := o[key].(map[string]any)
	return m
}

// List is a field that is a list, the objects in it.
func (o Object) List(key string) []Object { return Objects(o[key]) }

// Objects are the objects in a list.
func Objects(v any) []Object {
	items, _ := v.([]any)
	var out []Object
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// Body is a response in JSON.
type Body []byte

var (
	errNotObject = errors.New("not a JSON object")
	errNotList   = errors.New("not a JSON list")
)

// Object reads a response as a JSON object.
func (b Body) Object() (Object, error) {
	var o Object
	if json.Unmarshal(b, &o) != nil || o == nil {
		return nil, errNotObject
	}
	return o, nil
}

// list reads a response as a JSON list.
func (b Body) list() ([]any, error) {
	var items []any
	if json.Unmarshal(b, &items) != nil || items == nil {
		return nil, errNotList
	}
	return items, nil
}

// plus adds figures; the sum is unknown if one of them is.
func plus(a, b opt.Float) opt.Float {
	if !a.OK || !b.OK {
		return opt.Float{}
	}
	return opt.Of(a.V + b.V)
}

// addKnown adds a figure to a sum that begins unknown, unless the figure is unknown.
func addKnown(sum, figure opt.Float) opt.Float {
	if !figure.OK {
		return sum
	}
	return opt.Of(sum.V + figure.V)
}
