package canary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/report/page"
	"sonde/probe/units"
)

// Document is how all targets fare at one moment, for people and programs.
type Document struct {
	Rows []Row
	At   time.Time
}

// Document is that of all targets now.
func (c *Canary) Document() *Document { return &Document{Rows: c.Rows(), At: time.Now()} }

// ExitCode is 0 if every target is well, else 1.
func (d *Document) ExitCode() int {
	for i := range d.Rows {
		if d.Rows[i].State != OK {
			return 1
		}
	}
	return 0
}

// MarshalJSON writes all targets.
func (d *Document) MarshalJSON() ([]byte, error) {
	out := struct {
		Schema  string   `json:"schema"`
		Targets []report `json:"targets"`
	}{Schema: "sonde/canary/1", Targets: []report{}}
	for i := range d.Rows {
		out.Targets = append(out.Targets, reportOf(&d.Rows[i], d.At))
	}
	return json.Marshal(out)
}

// section is a table of all targets.
func (d *Document) section() page.Section {
	s := page.Section{Title: "targets", Columns: []page.Column{
		{Title: "state", Left: true}, {Title: "target", Left: true}, {Title: "model", Left: true, Rank: 2},
		{Title: "TTFT ms"}, {Title: "TPOT ms"}, {Title: "tok/s", Rank: 3}, {Title: "E2E ms", Rank: 4}, {Title: "setup ms", Rank: 5},
	}}
	for i := range d.Rows {
		r := &d.Rows[i]
		s.Rows = append(s.Rows, []string{
			r.State.String(), r.Target.Name, cmp.Or(r.Model, units.Unknown), units.Known(r.TTFT, units.Digits3), units.Known(r.TPOT, units.Digits3),
			units.Known(r.PerS(), units.Digits3), units.Known(r.E2E, units.Digits3), units.Known(r.Setup, units.Digits3),
		})
		if r.State != OK {
			s.Items = append(s.Items, page.Item{Mark: "▲ ", Text: fmt.Sprintf("%s: %s", r.Label(), r.Verdict.Text), Sub: advice(r)})
		}
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		c.Width = ansi.StringWidth(c.Title)
		for _, row := range s.Rows {
			c.Width = max(c.Width, ansi.StringWidth(row[i]))
		}
		c.Width += columnGap
	}
	return s
}

const columnGap = 2 // cells between columns

func advice(r *Row) []page.Item {
	if r.Verdict.Advice == "" {
		return nil
	}
	return []page.Item{{Mark: "  → ", Text: r.Verdict.Advice}}
}

// Text is the table in lines of at most width cells.
func (d *Document) Text(width int, color bool) string {
	t := page.Text{Width: width, Color: color}
	t.Section(d.section())
	return t.String()[1:] // without the empty line before a section
}

// Markdown is the table in Markdown.
func (d *Document) Markdown() string {
	var m page.Markdown
	m.Section(d.section())
	return m.String()
}
