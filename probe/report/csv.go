package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sonde/probe/report/page"
)

// CSV is a heading and one row, without the Distributions.
func (s Summary) CSV() (string, error) {
	s.Distributions = nil
	return CSV([]Summary{s})
}

// CSV has a row for each value. Columns are named by the JSON path with dots; a row has an
// empty cell where it has no such figure.
func CSV[Row any](rows []Row) (string, error) {
	var columns []string
	cells := make([]map[string]string, len(rows))
	for i, row := range rows {
		fields, err := flatten(row)
		if err != nil {
			return "", err
		}
		cells[i] = map[string]string{}
		for _, f := range fields {
			if !slices.Contains(columns, f.path) {
				columns = append(columns, f.path)
			}
			cells[i][f.path] = f.cell()
		}
	}
	var out strings.Builder
	sheet := csv.NewWriter(&out)
	_ = sheet.Write(columns) // writing into memory does not fail
	for _, row := range cells {
		record := make([]string, len(columns))
		for j, c := range columns {
			record[j] = row[c]
		}
		_ = sheet.Write(record)
	}
	sheet.Flush()
	return out.String(), nil
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

// value adds the leaves of the next value. Elements of a list are numbered, except that
// words are joined into one leaf.
func (f *flattener) value(path string) error {
	token, err := f.dec.Token()
	if err != nil {
		return err
	}
	open, nested := token.(json.Delim)
	if !nested {
		text, isText := token.(string)
		if token != nil && !isText {
			text = fmt.Sprint(token)
		}
		f.fields = append(f.fields, field{path, text, isText})
		return nil
	}
	before, words := len(f.fields), []string{}
	for i := 0; f.dec.More(); i++ {
		key := strconv.Itoa(i)
		if open == '{' {
			if token, err = f.dec.Token(); err != nil {
				return err
			}
			key = fmt.Sprint(token)
		}
		own := join(path, key)
		if err := f.value(own); err != nil {
			return err
		}
		if n := len(f.fields); open == '[' && n > before && f.fields[n-1].isText && f.fields[n-1].path == own {
			words = append(words, f.fields[n-1].value)
		}
	}
	if len(words) > 0 {
		f.fields = append(f.fields[:before], field{path, strings.Join(words, "; "), true})
	}
	_, err = f.dec.Token() // the closing brace or bracket
	return err
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
