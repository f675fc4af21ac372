package headless

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the Summary as tables for a report.
func (s Summary) WriteMarkdown(w io.Writer) error {
	m := markdown{}
	m.linef("## %s", escape(word(s.Target.Model)))
	m.linef("")
	m.linef("%s · %s %s · %s loop, concurrency %d, rate %s · prompt %s, output %d tokens · prefix %s · seed %d", escape(word(s.Target.URL)),
		escape(word(s.Target.Engine)), escape(plain(string(s.Target.EngineVersion))), s.Load.Mode, s.Load.Concurrency, figure(s.Load.Rate),
		whole(s.Load.InputTokens), s.Load.OutputTokens, escape(word(s.Load.Prefix)), s.Seed)
	if s.Interrupted {
		m.linef("")
		m.linef("**Interrupted**: these are the results so far.")
	}
	m.latencies(&s.LatencyMS)
	m.figures(&s)
	m.list("Errors", len(s.Errors), func(i int) string {
		e := s.Errors[i]
		return fmt.Sprintf("%d × `%s`: %s", e.Count, e.Class, escape(plain(e.Message)))
	})
	m.list("Notes", len(s.Notes), func(i int) string { return escape(plain(s.Notes[i])) })
	m.list("Verdict", len(s.Verdict), func(i int) string {
		v := s.Verdict[i]
		return escape(plain(strings.Join(append([]string{v.Says}, v.Evidence...), "; ")))
	})
	_, err := io.WriteString(w, m.out.String())
	return err
}

type markdown struct {
	out strings.Builder
}

func (m *markdown) linef(format string, args ...any) {
	fmt.Fprintf(&m.out, format+"\n", args...)
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
}

// marked writes a percentile, with a mark if it is weak.
func marked(q Quantiles, name string, v Number) string {
	if q.N > 0 && strings.Contains(strings.Join(q.Weak, " ")+" ", name+" ") {
		return figure(v) + weakMark
	}
	return figure(v)
}

func (m *markdown) figures(s *Summary) {
	r, q := &s.Rates, &s.Requests
	m.linef("\n| figure | value |\n|---|--:|")
	for _, row := range [][2]string{
		{"requests ok / failed / cancelled", fmt.Sprintf("%d / %d / %d", q.OK, q.Failed, q.Cancelled)},
		{"window s", figure(s.DurationS)},
		{"requests per s", figure(r.RequestsPerS)},
		{"output tokens per s", figure(r.OutputPerS)},
		{"input tokens per s", figure(r.InputPerS)},
		{"output tokens per s per stream", figure(r.OutputPerSStream)},
		{"streams in flight, mean", figure(s.ConcurrencyMean)},
		{"good requests", percent(s.GoodShare)},
		{"KV cache, mean / max", percent(s.Engine.KVFillMean) + " / " + percent(s.Engine.KVFillMax)},
		{"engine queue, max", figure(s.Engine.WaitingMax)},
		{"client is the bottleneck", map[bool]string{true: "**yes**", false: "no"}[s.Client.Bottleneck]},
	} {
		m.linef("| %s | %s |", row[0], row[1])
	}
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
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`).Replace(s)
}
