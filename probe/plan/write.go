package plan

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/opt"
	"sonde/probe/plain"
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
// head-room; columns have the names of the JSON.
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
			_ = out.Write(columns) // told by Error
		}
		_ = out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

// text is the page for a terminal.
func (p *Plan) text(width int, color bool) string {
	var b strings.Builder
	line := func(s string) { b.WriteString(ansi.Truncate(strings.TrimRight(s, " "), width, "…") + "\n") }
	bold := func(s string) string {
		if color {
			return "\x1b[1m" + s + "\x1b[0m"
		}
		return s
	}
	for i, s := range p.sections() {
		if i > 0 {
			b.WriteByte('\n')
		}
		rows := aligned(append([][]string{append([]string{s.title}, s.header...)}, s.rows...))
		line(bold(strings.TrimRight(rows[0], " ")))
		for _, r := range rows[1:] {
			line(r)
		}
		for _, l := range s.lines {
			for _, row := range strings.Split(ansi.Wrap(l, max(20, width-2), ""), "\n") {
				line("  " + row)
			}
		}
	}
	return b.String()
}

// aligned pads names to the left and figures to the right.
func aligned(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	lines := make([]string, len(rows))
	for j, r := range rows {
		for i, cell := range r {
			blanks := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if i == 0 {
				lines[j] = cell + blanks
			} else {
				lines[j] += "  " + blanks + cell
			}
		}
	}
	return lines
}

func (p *Plan) markdown() string {
	var b strings.Builder
	fmt.Fprint(&b, "## sonde plan\n")
	for _, s := range p.sections() {
		fmt.Fprintf(&b, "\n### %s\n\n", s.title)
		if len(s.rows) > 0 {
			fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(s.header, " | "), strings.Repeat("--:|", len(s.header)))
			for _, r := range s.rows {
				fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(strings.Join(r, " | "), "_", `\_`))
			}
			if len(s.lines) > 0 {
				b.WriteByte('\n')
			}
		}
		for _, l := range s.lines {
			fmt.Fprintf(&b, "- %s\n", strings.NewReplacer("_", `\_`, "*", `\*`, "<", "&lt;").Replace(l))
		}
	}
	return b.String()
}
