package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// field is one leaf of the JSON form of a Summary.
type field struct {
	path   string // keys and indexes, joined by dots
	value  string
	isText bool
}

// flatten lists the leaves of the JSON form in the order of the file. A list of
// words is one leaf; null is an empty value.
func flatten(s any) ([]field, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("summary as CSV: %w", err)
	}
	f := flattener{dec: json.NewDecoder(bytes.NewReader(raw))}
	f.dec.UseNumber()
	err = f.value("")
	return f.fields, err
}

type flattener struct {
	dec    *json.Decoder
	fields []field
}

func (f *flattener) value(path string) error {
	token, err := f.dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return f.object(path)
		}
		return f.list(path)
	case string:
		f.leaf(path, v, true)
	case nil:
		f.leaf(path, "", false)
	default:
		f.leaf(path, fmt.Sprint(v), false)
	}
	return nil
}

func (f *flattener) leaf(path, value string, isText bool) {
	f.fields = append(f.fields, field{path: path, value: value, isText: isText})
}

func (f *flattener) object(path string) error {
	for f.dec.More() {
		key, err := f.dec.Token()
		if err != nil {
			return err
		}
		if err := f.value(join(path, fmt.Sprint(key))); err != nil {
			return err
		}
	}
	_, err := f.dec.Token() // the closing brace
	return err
}

// list numbers its elements, except that words are joined into one leaf.
func (f *flattener) list(path string) error {
	before := len(f.fields)
	words := []string{}
	for i := 0; f.dec.More(); i++ {
		own := join(path, strconv.Itoa(i))
		if err := f.value(own); err != nil {
			return err
		}
		if last := f.fields[len(f.fields)-1]; last.isText && last.path == own {
			words = append(words, last.value)
		}
	}
	if len(words) > 0 {
		f.fields = f.fields[:before]
		f.leaf(path, strings.Join(words, "; "), true)
	}
	_, err := f.dec.Token() // the closing bracket
	return err
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
