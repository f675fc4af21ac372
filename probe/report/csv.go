package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"sonde/probe/report/page"
	"strconv"
	"strings"
)

// WriteCSV writes a heading and one row.
func (s Summary) WriteCSV(w io.Writer) error { return WriteCSV(w, []Summary{s}) }

// WriteCSV writes a row for each of the Summaries, or of the levels of a sweep. Columns are named by the JSON path with
// dots; a row has an empty cell where it has no such figure.
func WriteCSV[Row any](w io.Writer, rows []Row) error {
	var columns []string
	known := map[string]bool{}
	cells := make([]map[string]string, len(rows))
	for i, s := range rows {
		fields, err := flatten(s)
		if err != nil {
			return err
		}
		cells[i] = map[string]string{}
		for _, f := range fields {
			if !known[f.path] {
				known[f.path] = true
				columns = append(columns, f.path)
			}
			cells[i][f.path] = f.cell()
		}
	}
	out := csv.NewWriter(w)
	record := columns
	for i := -1; i < len(rows); i++ {
		if i >= 0 {
			record = make([]string, len(columns))
			for j, c := range columns {
				record[j] = cells[i][c]
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cell is the field's text, with control characters made visible: a file of
// figures is also read on a terminal. A text that a spreadsheet would run as a
// formula gets an apostrophe in front, which spreadsheets take for "this is text".
func (f field) cell() string {
	if !f.isText {
		return f.value
	}
	text := page.Visible(f.value)
	if strings.ContainsAny(f.value[:min(1, len(f.value))], "=+-@\t\r") {
		return "'" + text
	}
	return text
}

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
