package headless

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sonde/probe/opt"
)

// WriteMarkdown writes the SweepSummary as a report of what the service holds.
func (s SweepSummary) WriteMarkdown(w io.Writer) error {
	m := markdown{}
	m.linef("## %s: what load it holds", escape(word(s.Target.Model)))
	m.linef("")
	m.linef("%s · %s %s · %s · seed %d", escape(word(s.Target.URL)), escape(word(s.Target.Engine)), escape(plain(string(s.Target.EngineVersion))),
		escape(s.setting()), s.Seed)
	if s.Interrupted {
		m.linef("\n**Interrupted**: these are the results so far.")
	} else if s.EndedEarly != "" {
		m.linef("\nEnded early: %s", escape(plain(string(s.EndedEarly))))
	}
	m.list("Conclusion", len(s.Verdict), func(i int) string { return escape(plain(s.Verdict[i].Says)) })
	m.capacity(&s)
	m.levels(&s)
	if s.picture != "" {
		m.linef("\n![Throughput and TTFT against the load](%s)", filepath.Base(s.picture))
	}
	if bars := s.bars(100); len(bars) > 2 {
		m.linef("\n```\n%s\n```", strings.Join(bars, "\n"))
	}
	if s.Knee != nil {
		m.list("Evidence for the knee", len(s.Knee.Evidence), func(i int) string { return escape(plain(s.Knee.Evidence[i])) })
	}
	errors := s.errors()
	m.list("Errors", len(errors), func(i int) string {
		return fmt.Sprintf("%d × `%s`: %s", errors[i].Count, errors[i].Class, escape(plain(errors[i].Message)))
	})
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
	name := strings.TrimSuffix(path, filepath.Ext(path)) + "-curve.svg"
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

// capacity is what to count on: the figures of the largest load within the service
// levels, or at the knee.
func (m *markdown) capacity(s *SweepSummary) {
	l, of := s.conclusive()
	if l == nil {
		return
	}
	m.linef("\n### Capacity %s\n\n| figure | value |\n|---|--:|", of)
	three := func(q *Quantiles) string {
		return marked(*q, "p50", q.P50) + " / " + marked(*q, "p95", q.P95) + " / " + marked(*q, "p99", q.P99)
	}
	sm := meanOf(l.GPUs, func(g *GPUFigures) Number { return g.SMMean })
	dram := meanOf(l.GPUs, func(g *GPUFigures) Number { return g.DRAMMean })
	for _, row := range [][2]string{
		{"load", l.amount()},
		{"requests per s (QPS)", figure(l.Rates.RequestsPerS)},
		{"requests per min", figure(l.Rates.RPM)},
		{"input / output / total tokens per min", figure(l.Rates.InputTPM) + " / " + figure(l.Rates.OutputTPM) + " / " + figure(l.Rates.TotalTPM)},
		{"input / output tokens per request, mean", meanTokens(l.Tokens.Input, &l.Summary) + " / " + meanTokens(opt.Of(float64(l.Tokens.Output)), &l.Summary)},
		{"streams in flight, mean", figure(l.ConcurrencyMean)},
		{"TTFT ms, p50 / p95 / p99", three(&l.LatencyMS.TTFT)},
		{"TPOT ms, p50 / p95 / p99", three(&l.LatencyMS.TPOT)},
		{"E2E ms, p50 / p95 / p99", three(&l.LatencyMS.E2E)},
		{"engine queue, max", figure(l.Engine.WaitingMax)},
		{"KV cache, mean / max", percent(l.Engine.KVFillMean) + " / " + percent(l.Engine.KVFillMax)},
		{"GPU SM / DRAM", percent(sm) + " / " + percent(dram)},
		{"requests failed", fmt.Sprintf("%d of %d", l.Requests.Failed, l.Requests.OK+l.Requests.Failed)},
		{"good requests", percent(l.GoodShare)},
		{"client is the bottleneck", map[bool]string{true: "**yes**", false: "no"}[l.Client.Bottleneck]},
	} {
		m.linef("| %s | %s |", row[0], row[1])
	}
}

// conclusive is the level that capacity is read from; nil if none is special.
func (s *SweepSummary) conclusive() (l *Level, of string) {
	switch {
	case s.Best != nil:
		return s.level(s.Best.Mark), "within the service levels"
	case s.Knee != nil && len(s.SLO) == 0:
		return s.level(s.Knee.Mark), "at the knee"
	}
	return nil, ""
}

func (m *markdown) levels(s *SweepSummary) {
	if len(s.Levels) == 0 {
		return
	}
	columns := levelColumns()
	title, rule := "\n### Levels\n\n|", "|"
	for _, c := range columns {
		title += " " + c.title + " |"
		rule += "--:|"
	}
	m.linef("%s SLO |\n%s---|", title, rule)
	for i := range s.Levels {
		row := "|"
		for _, c := range columns {
			row += " " + c.cell(&s.Levels[i]) + " |"
		}
		m.linef("%s %s |", row, s.outcome(&s.Levels[i]))
	}
	m.linef("\nLatencies are milliseconds; %s marks a percentile with too few samples, or a level that had not settled.", weakMark)
}
