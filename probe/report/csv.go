package report

import (
	"encoding/csv"
	"io"
	"sonde/probe/report/page"
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
