package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sonde/probe/report/page"
	"sonde/probe/sweep"
	"sonde/probe/units"
)

// Text is the SweepSummary for people.
func (s SweepSummary) Text(width int, color bool) string {
	t := page.Text{Width: width, Color: color}
	t.Line(t.Bold("sonde sweep") + "  " + word(s.Target.URL))
	t.Line(s.Target.line())
	t.Line(page.Plain(s.setting()))
	t.Line(fmt.Sprintf("%s in %s s%s%s", units.Count(len(s.Levels), "level"), whole(s.DurationS), s.seed(), iff(s.Interrupted, " · INTERRUPTED")))
	if s.EndedEarly != "" && !s.Interrupted {
		t.Line("ended early: " + word(s.EndedEarly))
	}
	for _, section := range []page.Section{
		levelSection("", s.Levels, s.outcome), s.curveSection(width), s.turnSection(), s.bestSection(),
		errorSection(s.errors()), noteSection(s.Notes), verdictSection(s.Verdict),
	} {
		t.Section(section)
	}
	return t.String()
}

// Markdown is the SweepSummary as a report of the service's capacity: the conclusion first,
// then what it rests on.
func (s SweepSummary) Markdown() string {
	m := s.opening(word(s.Target.Model)+": capacity", s.setting(), s.conclusion())
	m.Section(s.Target.section())
	m.Section(s.capacitySection())
	m.Section(s.turnSection())
	m.Section(levelSection("Levels (latencies in ms)", s.Levels, s.outcome))
	s.curve(m)
	verdicts := slices.DeleteFunc(slices.Clone(s.Verdict), func(v Verdict) bool { return v.Rule == ruleKnee || v.Rule == ruleNoKnee })
	for _, section := range []page.Section{
		s.kneeSection(), levelSection("Levels with other lengths, prefixes or loops (latencies in ms)", s.Others, (*Level).kind),
		verdictSection(verdicts), errorSection(s.errors()), noteSection(s.Notes),
	} {
		m.Section(section)
	}
	return m.String()
}

// Illustrate draws the curve into a file beside a report that goes into the file at path, which
// then shows it: report.md and report-curve.svg. Other formats have no picture.
func (s *SweepSummary) Illustrate(path, format string) error {
	if path == "" || format != "md" {
		return nil
	}
	s.picture = strings.TrimSuffix(path, filepath.Ext(path)) + curveEnding
	if err := os.WriteFile(s.picture, []byte(s.SVG()), 0o644); err != nil {
		return fmt.Errorf("the picture beside --out: %w", err)
	}
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
	return fmt.Sprintf("%s loop · prompt %s, output %s tokens%s", s.Load.Mode, s.Load.Prompt(), s.Load.Answer(), s.Load.talk())
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

// turnSection has the turns of the level that the conclusion is read from.
func (s *SweepSummary) turnSection() page.Section {
	l, _ := s.conclusive()
	if l == nil {
		return page.Section{}
	}
	return turnSection("Turns at "+sweep.Describe(l.Requested), l.Turns)
}

// kind is what sets a level apart from those of another curve.
func (l *Level) kind() string {
	return fmt.Sprintf("%s loop, prompt %s, output %s, prefix %s%s", l.Load.Mode, l.Load.Prompt(), l.Load.Answer(), word(l.Load.Prefix), l.Load.talk())
}

func (s *SweepSummary) bestSection() page.Section {
	b := s.Best
	if b == nil {
		return page.Section{}
	}
	out := b.Rates.section("within SLO")
	out.Rows = append(out.Rows, []string{"good requests", figure(b.GoodputPerS), figure(b.GoodputPerS.Scale(60))})
	return out
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
