package plan

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/opt"
	"sonde/probe/plain"
	"sonde/probe/report/page"
)

// Write writes the Plan as "table", "json", "csv" or "md". A table is at most
// width cells wide; without color it holds no escape codes.
func (p Plan) Write(w io.Writer, format string, width int, color bool) error {
	switch format {
	case "table":
		_, err := io.WriteString(w, p.text(width, color))
		return err
	case "md":
		_, err := io.WriteString(w, p.markdown())
		return err
	case "csv":
		return p.writeCSV(w)
	}
	return plain.WriteJSON(w, p)
}

// writeCSV writes a row per workload, then the total and the load with its
// headroom; columns have the names of the JSON.
func (p *Plan) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := append(append([]Row{}, p.Workloads...), p.Total, Row{Name: "with_headroom", Request: p.Total.Request, Demand: p.WithHeadroom})
	for i, r := range rows {
		d := r.Demand
		columns, cells := []string{"name"}, []string{r.Name}
		for _, c := range []struct {
			name  string
			value opt.Float
		}{
			{"input_tokens", opt.Of(r.InputTokens)}, {"output_tokens", opt.Of(r.OutputTokens)}, {"e2e_s", r.E2ES},
			{"requests_per_s", d.RequestsPerS}, {"rpm", d.RPM}, {"input_tpm", d.InputTPM}, {"output_tpm", d.OutputTPM},
			{"total_tpm", d.TotalTPM}, {"concurrency", d.Concurrency}, {"kv_tokens", d.KVTokens},
			{"kv_tokens_most", d.KVTokensMost}, {"kv_bytes", d.KVBytes}, {"kv_bytes_most", d.KVBytesMost},
		} {
			cell := ""
			if c.value.OK {
				cell = strconv.FormatFloat(c.value.V, 'f', -1, 64)
			}
			columns, cells = append(columns, c.name), append(cells, cell)
		}
		if i == 0 {
			_ = out.Write(columns) // Error reports it
		}
		_ = out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

// text is the page for a terminal. Lines under a table are indented and wrapped.
func (p *Plan) text(width int, color bool) string {
	t := page.Text{Width: width, Color: color}
	for _, s := range p.sections() {
		lines := s.Lines
		s.Lines = nil
		for _, l := range lines {
			for row := range strings.SplitSeq(ansi.Wrap(l, max(20, width-2), ""), "\n") {
				s.Lines = append(s.Lines, "  "+row)
			}
		}
		t.Section(s)
	}
	return strings.TrimPrefix(t.String(), "\n")
}

func (p *Plan) markdown() string {
	var m page.Markdown
	m.Linef("## sonde plan")
	for _, s := range p.sections() {
		for _, l := range s.Lines {
			s.Items = append(s.Items, page.Item{Text: l})
		}
		s.Lines = nil
		m.Section(s)
	}
	return m.String()
}
