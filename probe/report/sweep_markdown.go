package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sonde/probe/sweep"
)

// WriteMarkdown writes the SweepSummary as a report of what the service holds: the
// conclusion first, then what it rests on.
func (s SweepSummary) WriteMarkdown(w io.Writer) error {
	m := markdown{}
	m.linef("## %s: what load it holds", escape(word(s.Target.Model)))
	m.origin(&s.Target, fmt.Sprintf("%s · seed %d", s.setting(), s.Seed), s.Started)
	if s.Interrupted {
		m.linef("\n**Interrupted**: these are the results so far.")
	} else if s.EndedEarly != "" {
		m.linef("\nEnded early: %s", escape(plain(string(s.EndedEarly))))
	}
	m.linef("\n%s", strings.Join(s.conclusion(), " "))
	m.rows("What was measured", s.Target.rows())
	m.capacity(&s)
	m.levels("Levels", s.Levels, s.outcome)
	m.curve(&s)
	m.knee(&s)
	m.levels("Levels of other lengths, prefixes or loops", s.Others, func(l *Level) string { return escape(l.kind()) })
	m.verdicts(slices.DeleteFunc(slices.Clone(s.Verdict), func(v Verdict) bool { return v.Rule == ruleKnee || v.Rule == ruleNoKnee }))
	m.errors(s.errors())
	m.list("Notes", len(s.Notes), func(i int) string { return escape(plain(s.Notes[i])) })
	_, err := io.WriteString(w, m.out.String())
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

// capacity is what to count on: the figures of the level that the conclusion is read
// from.
func (m *markdown) capacity(s *SweepSummary) {
	l, basis := s.conclusive()
	if l == nil {
		return
	}
	title := map[string]string{
		basisSLO: "Capacity within the service levels", basisKnee: "Capacity at the knee",
		basisLargest: "At the largest load that settled", basisNone: "At the smallest load, which misses the service levels",
	}[basis]
	sure := "— (no service levels were asked)"
	if basis == basisSLO {
		sure = percent(s.Best.Confidence) + ", " + plain(string(s.Best.Verdict))
	} else if len(s.SLO) > 0 {
		sure = "— (it misses them)"
	}
	rows := []reportRow{
		{"load", sweep.Describe(l.Asked) + iff(!l.Settled, " (had not settled)")},
		{"confidence that it meets the service levels", sure},
	}
	m.rows(title, append(rows, l.rows()...))
}

func (m *markdown) levels(title string, levels []Level, outcome func(*Level) string) {
	if len(levels) == 0 {
		return
	}
	columns := levelColumns()
	heads, rule := "|", "|"
	for _, c := range columns {
		heads += " " + c.title + " |"
		rule += "--:|"
	}
	m.linef("\n### %s\n\n%s |\n%s---|", title, heads, rule)
	for i := range levels {
		row := "|"
		for _, c := range columns {
			row += " " + c.cell(&levels[i]) + " |"
		}
		m.linef("%s %s |", row, outcome(&levels[i]))
	}
	m.linef("\nLatencies are milliseconds; %s marks a percentile with too few samples, or a level that had not settled.", weakMark)
}

// kind is what sets a level apart from those of another curve.
func (l *Level) kind() string {
	return fmt.Sprintf("%s loop, prompt %s, output %d, prefix %s", l.Load.Mode, whole(l.Load.InputTokens), l.Load.OutputTokens, word(l.Load.Prefix))
}

// curve is the curve as a picture and as text.
func (m *markdown) curve(s *SweepSummary) {
	bars := s.bars(100)
	if s.picture == "" && len(bars) < 3 {
		return
	}
	m.linef("\n### Curve")
	if s.picture != "" {
		m.linef("\n![Throughput and TTFT against the load](%s)", filepath.Base(s.picture))
	}
	if len(bars) > 2 {
		m.linef("\n```\n%s\n```", strings.Join(bars, "\n"))
	}
}

// knee is where more load stops paying, and what is exhausted there; or why that cannot
// be said.
func (m *markdown) knee(s *SweepSummary) {
	if s.Knee == nil {
		if s.NoKnee != "" {
			m.linef("\n### Knee\n\nNone: %s.", escape(plain(string(s.NoKnee))))
		}
		return
	}
	exhausted := iff(sweep.Resource(s.Knee.Exhausted) == sweep.UnknownResource, " Which resource is exhausted is unknown.")
	m.linef("\n### Knee\n\n%s.%s\n", escape(capital(plain(s.Knee.Says))), exhausted)
	for _, e := range s.Knee.Evidence {
		m.linef("- %s", escape(plain(e)))
	}
}
