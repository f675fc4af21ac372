package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sonde/probe/report/page"
	"sonde/probe/sweep"
	"sonde/probe/units"
)

// Write writes the SweepSummary in one of the formats of a Document.
func (s SweepSummary) Write(w io.Writer, format string, width int, color bool) error {
	return writeForm(s, w, format, width, color)
}

// WriteTable writes the SweepSummary for people, in lines of at most width cells.
func (s SweepSummary) WriteTable(w io.Writer, width int, color bool) error {
	t := page.Text{Width: width, Color: color}
	t.Line(t.Bold("sonde sweep") + "  " + word(s.Target.URL))
	t.Line(s.Target.line())
	t.Line(page.Plain(s.setting()))
	t.Line(fmt.Sprintf("%s in %s s · seed %d%s", units.Count(len(s.Levels), "level"), whole(s.DurationS), s.Seed, iff(s.Interrupted, " · INTERRUPTED")))
	if s.EndedEarly != "" && !s.Interrupted {
		t.Line("ended early: " + word(s.EndedEarly))
	}
	for _, section := range []page.Section{
		levelSection("", s.Levels, s.outcome), s.curveSection(width), s.bestSection(),
		errorSection(s.errors()), noteSection(s.Notes), verdictSection(s.Verdict),
	} {
		t.Section(section)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// WriteMarkdown writes the SweepSummary as a report of the service's capacity: the
// conclusion first, then what it rests on.
func (s SweepSummary) WriteMarkdown(w io.Writer) error {
	var m page.Markdown
	m.Linef("## %s: capacity", page.Escape(word(s.Target.Model)))
	m.Linef("\n%s", s.Target.origin(fmt.Sprintf("%s · seed %d", s.setting(), s.Seed), s.Started))
	if s.Interrupted {
		m.Linef("\n**Interrupted**: these are the results so far.")
	} else if s.EndedEarly != "" {
		m.Linef("\nEnded early: %s", page.Escape(string(s.EndedEarly)))
	}
	m.Linef("\n%s", strings.Join(s.conclusion(), " "))
	m.Section(s.Target.section())
	m.Section(s.capacitySection())
	m.Section(levelSection("Levels (latencies in ms)", s.Levels, s.outcome))
	s.curve(&m)
	verdicts := slices.DeleteFunc(slices.Clone(s.Verdict), func(v Verdict) bool { return v.Rule == ruleKnee || v.Rule == ruleNoKnee })
	for _, section := range []page.Section{
		s.kneeSection(), levelSection("Levels with other lengths, prefixes or loops (latencies in ms)", s.Others, (*Level).kind),
		verdictSection(verdicts), errorSection(s.errors()), noteSection(s.Notes),
	} {
		m.Section(section)
	}
	_, err := io.WriteString(w, m.String())
	return err
}

// Illustrate draws the curve into a file beside a report that goes into the file at path, which
// then shows it: report.md and report-curve.svg. Other formats have no picture.
func (s *SweepSummary) Illustrate(path, format string) error {
	if path == "" || format != "md" {
		return nil
	}
	name := strings.TrimSuffix(path, filepath.Ext(path)) + curveEnding
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("the picture beside --out: %w", err)
	}
	if err := errors.Join(s.WriteSVG(file), file.Close()); err != nil {
		return fmt.Errorf("the picture beside --out: %w", err)
	}
	s.picture = name
	return nil
}

// setting is what all levels have in common.
func (s *SweepSummary) setting() string {
	if s.Load.Mode == "" {
		return "no request ended"
	}
	text := s.shape() + " · prefix " + word(s.Load.Prefix)
	if len(s.SLO) > 0 {
		text += " · SLO " + strings.Join(s.SLO, ", ")
	}
	return text
}

// shape is the loop and the lengths.
func (s *SweepSummary) shape() string {
	return fmt.Sprintf("%s loop · prompt %s, output %d tokens", s.Load.Mode, whole(s.Load.InputTokens), s.Load.OutputTokens)
}

// capacity is what to count on: the figures of the level that the conclusion is read
// from.
func (s *SweepSummary) capacitySection() page.Section {
	l, basis := s.conclusive()
	if l == nil {
		return page.Section{}
	}
	title := map[string]string{
		basisSLO: "Capacity within the SLOs", basisKnee: "Capacity at the knee",
		basisLargest: "At the largest load that settled", basisNone: "At the smallest load, which misses the SLOs",
	}[basis]
	sure := "— (no SLO was given)"
	if basis == basisSLO {
		sure = percent(s.Best.Confidence) + ", " + string(s.Best.Verdict)
	} else if len(s.SLO) > 0 {
		sure = "— (it misses the SLOs)"
	}
	rows := [][]string{
		{"load", sweep.Describe(l.Requested) + iff(!l.Settled, " (had not settled)")},
		{"confidence that it meets the SLOs", sure},
	}
	return page.Section{Title: title, Columns: figureColumns, Rows: append(rows, l.rows()...)}
}

// kind is what sets a level apart from those of another curve.
func (l *Level) kind() string {
	return fmt.Sprintf("%s loop, prompt %s, output %d, prefix %s", l.Load.Mode, whole(l.Load.InputTokens), l.Load.OutputTokens, word(l.Load.Prefix))
}

func (s *SweepSummary) bestSection() page.Section {
	b := s.Best
	if b == nil {
		return page.Section{}
	}
	return perTime("within SLO", [][3]string{
		{"requests", figure(b.RequestsPerS), figure(b.RPM)},
		{"input tokens", figure(b.InputTPM.Scale(1.0 / 60)), figure(b.InputTPM)},
		{"output tokens", figure(b.OutputTPM.Scale(1.0 / 60)), figure(b.OutputTPM)},
		{"total tokens", figure(b.TotalTPM.Scale(1.0 / 60)), figure(b.TotalTPM)},
		{"good requests", figure(b.GoodputPerS), figure(b.GoodputPerS.Scale(60))},
	})
}

// knee is where more load stops paying, and what is exhausted there; or why that cannot
// be said.
func (s *SweepSummary) kneeSection() page.Section {
	if s.Knee == nil {
		if s.NoKnee != "" {
			return page.Section{Title: "Knee", Lines: []string{"None: " + string(s.NoKnee) + "."}}
		}
		return page.Section{}
	}
	exhausted := iff(sweep.Resource(s.Knee.Exhausted) == sweep.UnknownResource, " Which resource is exhausted is unknown.")
	out := page.Section{Title: "Knee", Lines: []string{capital(s.Knee.Says) + "." + exhausted}}
	for _, e := range s.Knee.Evidence {
		out.Items = append(out.Items, page.Item{Mark: "- ", Text: e})
	}
	return out
}
