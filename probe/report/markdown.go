package report

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the Summary as a report: what it comes to first, then the figures.
func (s Summary) WriteMarkdown(w io.Writer) error {
	m := markdown{}
	m.linef("## %s", escape(word(s.Target.Model)))
	m.origin(&s.Target, fmt.Sprintf("%s loop, %s · seed %d", s.Load.Mode, s.Load.describe(), s.Seed), s.Started)
	if s.Interrupted {
		m.linef("\n**Interrupted**: these are the results so far.")
	}
	m.linef("\n%s", strings.Join(s.conclusion(), " "))
	m.rows("What was measured", s.Target.rows())
	m.rows("Figures", s.rows())
	m.latencies(&s.LatencyMS)
	m.slos(s.SLO)
	m.verdicts(s.Verdict)
	m.errors(s.Errors)
	m.list("Notes", len(s.Notes), func(i int) string { return escape(plain(s.Notes[i])) })
	_, err := io.WriteString(w, m.out.String())
	return err
}

type markdown struct {
	out strings.Builder
}

func (m *markdown) linef(format string, args ...any) {
	fmt.Fprintf(&m.out, format+"\n", args...)
}

// origin tells where the figures come from.
func (m *markdown) origin(t *Target, how string, at Instant) {
	when := ""
	if text := at.minute(); text != "" {
		when = " · " + text
	}
	m.linef("\n%s · %s%s", escape(word(t.URL)), escape(how), when)
}

// rows writes a table of figures; none without a row.
func (m *markdown) rows(title string, rows []reportRow) {
	m.linef("\n### %s\n\n| figure | value |\n|---|--:|", title)
	for _, r := range rows {
		m.linef("| %s | %s |", r.name, r.value)
	}
}

func (m *markdown) latencies(l *Latencies) {
	m.linef("\n| latency ms | n | mean | p50 | p90 | p95 | p99 | p99.9 | max |")
	m.linef("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, row := range []struct {
		name string
		q    Quantiles
	}{
		{"TTFT", l.TTFT}, {"TTFA", l.TTFA}, {"TPOT", l.TPOT}, {"gap", l.Gap}, {"E2E", l.E2E},
		{"setup", l.Setup}, {"client queue", l.ClientQueue}, {"from schedule", l.FromSchedule},
	} {
		q := row.q
		m.linef("| %s | %d | %s | %s | %s | %s | %s | %s | %s |", row.name, q.N, figure(q.Mean), figure(q.P50),
			marked(q, "p90", q.P90), marked(q, "p95", q.P95), marked(q, "p99", q.P99), marked(q, "p999", q.P999), figure(q.Max))
	}
	m.linef("\n%s marks a percentile with too few samples.", weakMark)
}

// marked writes a percentile, with a mark if it is weak.
func marked(q Quantiles, name string, v Number) string {
	if q.N > 0 && strings.Contains(strings.Join(q.Weak, " ")+" ", name+" ") {
		return figure(v) + weakMark
	}
	return figure(v)
}

func (m *markdown) slos(list []SLOResult) {
	m.list("Service levels", len(list), func(i int) string {
		r := &list[i]
		outcome := "unknown"
		if r.Met != nil {
			outcome = map[bool]string{true: "met", false: "**missed**"}[*r.Met]
		}
		return fmt.Sprintf("%s: %s, %s", escape(plain(r.SLO)), outcome, r.ActualText())
	})
}

// verdicts are findings with their evidence and what to do.
func (m *markdown) verdicts(list []Verdict) {
	m.list("Verdicts", len(list), func(i int) string {
		v := &list[i]
		text := escape(plain(v.Says))
		for _, e := range v.Evidence {
			text += "\n  - " + escape(plain(e))
		}
		if v.Advice != "" {
			text += "\n  - → " + escape(plain(v.Advice))
		}
		return text
	})
}

func (m *markdown) errors(list []ErrorCount) {
	m.list("Errors", len(list), func(i int) string {
		message := strings.TrimPrefix(list[i].Message, string(list[i].Class)+": ") // some name their class
		return fmt.Sprintf("%d × `%s`: %s", list[i].Count, list[i].Class, escape(plain(message)))
	})
}

func (m *markdown) list(title string, n int, item func(int) string) {
	if n == 0 {
		return
	}
	m.linef("\n### %s\n", title)
	for i := range n {
		m.linef("- %s", item(i))
	}
}

// escape keeps texts of a server from being read as Markdown or HTML.
func escape(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer(`\`, `\\`, "|", `\|`, "&", "&amp;", "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "~", `\~`)
