package compare

import (
	"fmt"
	"slices"
	"strings"

	"sonde/probe/report"
	"sonde/probe/report/page"
	"sonde/probe/units"
)

// Text is the Comparison for people.
func (c Comparison) Text(width int, color bool) string {
	t := page.Text{Width: width, Color: color}
	t.Line(t.Bold("sonde compare") + "  " + page.Plain(c.title()))
	for _, s := range c.sections() {
		t.Section(s)
	}
	return t.String()
}

// Markdown is the Comparison as a report.
func (c Comparison) Markdown() string {
	var m page.Markdown
	m.Linef("## sonde compare\n\n%s", page.Escape(c.title()))
	for _, s := range c.sections() {
		m.Section(s)
	}
	return m.String()
}

// CSV has a row for each figure; columns have the names of the JSON.
func (c Comparison) CSV() (string, error) {
	type row struct {
		Load string `json:"load"`
		Figure
	}
	var rows []row
	c.every(func(where string, f *Figure) { rows = append(rows, row{where, *f}) })
	return report.CSV(rows)
}

// title names the two sides.
func (c *Comparison) title() string { return runNames(c.Before) + " → " + runNames(c.After) }

// fewNames is how many runs a title names.
const fewNames = 2

func runNames(names []string) string {
	if len(names) <= fewNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d runs (%s, …)", len(names), names[0])
}

// sections are the page, the same for a terminal and for Markdown: first why the two sides may not
// be compared.
func (c *Comparison) sections() []page.Section {
	out := []page.Section{c.differing(true), c.differing(false), c.doubting(), c.conclusion()}
	if len(c.Levels) == 1 {
		l := &c.Levels[0]
		out = append(out, c.figureTable(l.Load, l.group(true)), c.figureTable("further figures", l.group(false)))
	} else {
		out = append(out, c.levelTables()...)
	}
	out = append(out, c.figureTable("conclusions of the sweeps", c.Capacity), c.unmatched(), c.legend(), c.verdicts())
	return out
}

func (c *Comparison) differing(work bool) page.Section {
	out := page.Section{Title: "also different (perhaps the change itself)"}
	if work {
		out.Title = "NOT COMPARABLE: not the same work on both sides"
	}
	for i := range c.Differences {
		if d := &c.Differences[i]; d.Work == work {
			out.Items = append(out.Items, page.Item{Mark: "- ", Text: d.Says()})
		}
	}
	return out
}

func (c *Comparison) doubting() page.Section {
	out := page.Section{Title: "doubts"}
	for _, text := range c.doubtTexts() {
		out.Items = append(out.Items, page.Item{Mark: "- ", Text: text})
	}
	return out
}

// conclusion says what differs.
func (c *Comparison) conclusion() page.Section {
	if !c.CanShow {
		return page.Section{Title: "no difference can be shown", Items: []page.Item{{Mark: "  ", Text: c.Runs}}}
	}
	out := page.Section{Title: "shown to differ"}
	tested := 0
	c.every(func(where string, f *Figure) {
		if f.P.OK {
			tested++
		}
		if !f.Differs {
			return
		}
		text := f.figure.title
		if len(c.Levels) > 1 && where != "" {
			text += " at " + where
		}
		out.Items = append(out.Items, page.Item{Mark: "▲ ", Text: fmt.Sprintf("%s %s, %s", text, f.changeText(), f.Effect)})
	})
	if len(out.Items) == 0 {
		return page.Section{Title: fmt.Sprintf("no difference shown in any of %s", units.Count(tested, "figure")), Items: []page.Item{{Mark: "  ", Text: c.Runs}}}
	}
	out.Items = append(out.Items, page.Item{Mark: "  ", Text: c.Runs})
	return out
}

// group are the headline figures, or the others.
func (l *Level) group(head bool) []Figure {
	return slices.DeleteFunc(slices.Clone(l.Figures), func(f Figure) bool { return f.head != head })
}

// columns of figures behind the name of the row.
var columns = []string{"before", "±", "after", "±", "change", "95 % interval", "", "p"}

// figureTable has a row for each figure of one load.
func (c *Comparison) figureTable(title string, figures []Figure) page.Section {
	var rows [][]string
	for i := range figures {
		f := &figures[i]
		name := f.figure.title
		if f.figure.kind == millis {
			name += " ms"
		}
		rows = append(rows, append([]string{name}, c.cells(f)...))
	}
	return c.table(title, rows)
}

// levelTables are one table for each figure, with a row for each load.
func (c *Comparison) levelTables() []page.Section {
	var out []page.Section
	for i := range figures {
		f := &figures[i]
		var rows [][]string
		for k := range c.Levels {
			l := &c.Levels[k]
			if at := slices.IndexFunc(l.Figures, func(g Figure) bool { return g.figure == f }); at >= 0 {
				rows = append(rows, append([]string{l.Load}, c.cells(&l.Figures[at])...))
			}
		}
		title := f.title
		if f.kind == millis {
			title += " ms"
		}
		out = append(out, c.table(title, rows))
	}
	return out
}

// table leaves out the columns that are empty in every row.
func (c *Comparison) table(title string, rows [][]string) page.Section {
	heads := slices.Clone(columns)
	for at := len(heads) - 1; at >= 0; at-- {
		if slices.ContainsFunc(rows, func(row []string) bool { return row[at+1] != "" }) {
			continue
		}
		heads = slices.Delete(heads, at, at+1)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], at+1, at+2)
		}
	}
	out := page.Table(title, heads, rows...)
	for i := range out.Columns {
		switch out.Columns[i].Title {
		case "p":
			out.Columns[i].Rank = 3
		case "±":
			out.Columns[i].Rank = 2
		}
	}
	return out
}

// cells are the figure behind the name of its row.
func (c *Comparison) cells(f *Figure) []string {
	k := f.figure.kind
	out := []string{k.side(&f.Before), k.spread(&f.Before), k.side(&f.After), k.spread(&f.After)}
	switch {
	case !f.Change.OK:
		return append(out, units.Unknown, "", "", "")
	case !c.CanShow || f.series == nil:
		return append(out, f.changeText()+page.Weak, "", "", "")
	case !f.P.OK, f.series.constant(): // not judged, or nothing to judge
		return append(out, "~", "", "", "")
	case !f.Differs:
		return append(out, "~", k.interval(f), "", p(f))
	}
	return append(out, f.changeText(), k.interval(f), string(f.Effect), p(f))
}

func p(f *Figure) string {
	if f.P.V < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", f.P.V)
}

func (k kind) side(s *Side) string {
	text := units.Known(s.Mean, units.Digits3)
	if k == share {
		text = units.Known(s.Mean, units.Percent3)
	}
	if s.Known > 0 && s.Known < len(s.Values) {
		text += fmt.Sprintf(" (%d of %d)", s.Known, len(s.Values))
	}
	if s.weak {
		text += page.Weak
	}
	return text
}

// spread is the standard deviation over the runs.
func (k kind) spread(s *Side) string {
	switch {
	case !s.Spread.OK:
		return ""
	case k.ratio():
		return fmt.Sprintf("%.1f %%", 100*s.Spread.V)
	case k == share:
		return units.Digits3(100 * s.Spread.V)
	}
	return units.Digits3(s.Spread.V)
}

func (k kind) interval(f *Figure) string {
	bare := func(v report.Number) string { return strings.Fields(k.signed(v))[0] }
	return "[" + bare(f.Low) + ", " + bare(f.High) + "]"
}

func (c *Comparison) unmatched() page.Section {
	out := page.Section{Title: "loads of one side only"}
	for _, side := range []string{"before", "after"} {
		var of []string
		for _, u := range c.Unmatched {
			if u.Side == side {
				of = append(of, u.Load)
			}
		}
		if len(of) > 0 {
			out.Items = append(out.Items, page.Item{Mark: "  ", Text: side + ": " + strings.Join(of, ", ")})
		}
	}
	return out
}

// legend explains the signs that are there.
func (c *Comparison) legend() page.Section {
	var lines []string
	if c.CanShow {
		lines = append(lines, "~ no difference shown · ± standard deviation of the runs · the intervals of a table hold together with 95 %")
		if len(c.Levels) == 1 {
			lines = append(lines, "further figures are judged only if one of the first table differs")
		}
	}
	weak := false
	c.every(func(_ string, f *Figure) {
		weak = weak || f.Before.weak || f.After.weak || f.Change.OK && (!c.CanShow || f.series == nil)
	})
	if weak {
		lines = append(lines, page.Weak+" too few samples for this percentile, or too few runs for this change")
	}
	if len(lines) == 0 {
		return page.Section{}
	}
	return page.Section{Title: "signs", Items: []page.Item{{Mark: "  ", Text: strings.Join(lines, " · ")}}}
}

// verdicts are the conditions and how they came out.
func (c *Comparison) verdicts() page.Section {
	out := page.Section{Title: "conditions"}
	for _, r := range c.Conditions {
		mark := "  "
		text := "ok      "
		if r.Failed {
			mark, text = "▲ ", "FAILED  "
		}
		out.Items = append(out.Items, page.Item{Mark: mark, Text: text + r.Condition + ": " + r.Says})
	}
	return out
}
