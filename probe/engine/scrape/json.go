package scrape

import (
	"encoding/json"
	"errors"

	"sonde/probe/opt"
)

var (
	errNotObject = errors.New("not a JSON object")
	errNotList   = errors.New("not a JSON list")
)

// object reads an answer as a JSON object.
func (a answer) object() (object, error) {
	var o object
	if json.Unmarshal(a.body, &o) != nil || o == nil {
		return nil, errNotObject
	}
	return o, nil
}

// list reads an answer as a JSON list.
func (a answer) list() ([]any, error) {
	var items []any
	if json.Unmarshal(a.body, &items) != nil || items == nil {
		return nil, errNotList
	}
	return items, nil
}

// figure is a number that is there and not negative: engines write -1 for none.
func (o object) figure(key string) opt.Float {
	n, is := o[key].(float64)
	if !is || n < 0 {
		return opt.Float{}
	}
	return opt.Of(n)
}

// plus adds figures; the sum is unknown if one of them is.
func plus(a, b opt.Float) opt.Float {
	if !a.OK || !b.OK {
		return opt.Float{}
	}
	return opt.Of(a.V + b.V)
}

// addKnown adds a figure to a sum that begins unknown and leaves unknown ones out.
func addKnown(sum, figure opt.Float) opt.Float {
	if !figure.OK {
		return sum
	}
	return opt.Of(sum.V + figure.V)
}
