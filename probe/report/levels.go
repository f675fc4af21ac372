package report

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/probe/bench"
	"sonde/probe/report/page"
	"sonde/probe/slo"
)

// outcomeWidth is room for what stands behind a level.
const outcomeWidth = 14

// levelSection is a table with a row for each level; outcome is what stands behind it.
func levelSection(title string, levels []Level, outcome func(*Level) string) page.Section {
	out := page.Section{Title: title}
	columns := levelColumns()
	for _, c := range columns {
		out.Columns = append(out.Columns, page.Column{Title: c.title, Width: c.width, Rank: c.rank})
	}
	out.Columns = append(out.Columns, page.Column{Width: outcomeWidth, Left: true})
	weak := false
	for i := range levels {
		row := []string{}
		for _, c := range columns {
			cell := c.cell(&levels[i])
			weak = weak || strings.HasSuffix(cell, weakMark)
			row = append(row, cell)
		}
		out.Rows = append(out.Rows, append(row, " "+outcome(&levels[i])))
	}
	if weak {
		out.Lines = []string{weakMark + " too few samples for this percentile, or the level had not settled"}
	}
	return out
}

// levelColumn is one column of the table of levels.
type levelColumn struct {
	title string
	width int
	rank  int // see page.Column
	cell  func(l *Level) string
}

// levelColumns are all columns in their order.
func levelColumns() []levelColumn {
	latency := func(of func(*Latencies) *Quantiles, p string) func(*Level) string {
		return func(l *Level) string { return of(&l.LatencyMS).at(p) }
	}
	ttft := func(l *Latencies) *Quantiles { return &l.TTFT }
	tpot := func(l *Latencies) *Quantiles { return &l.TPOT }
	e2e := func(l *Latencies) *Quantiles { return &l.E2E }
	return []levelColumn{
		{"load", 7, 0, func(l *Level) string { return l.amount() }},
		{"n", 6, 1, func(l *Level) string { return fmt.Sprint(l.Requests.OK) }},
		{"TTFT p50", 9, 2, latency(ttft, "p50")},
		{"TTFT p95", 9, 0, latency(ttft, "p95")},
		{"TTFT p99", 9, 4, latency(ttft, "p99")},
		{"TPOT p50", 9, 2, latency(tpot, "p50")},
		{"TPOT p95", 9, 1, latency(tpot, "p95")},
		{"TPOT p99", 9, 4, latency(tpot, "p99")},
		{"E2E p95", 9, 5, latency(e2e, "p95")},
		{"out tok/s", 10, 0, func(l *Level) string { return figure(l.Rates.OutputPerS) }},
		{"in tok/s", 9, 8, func(l *Level) string { return figure(l.Rates.InputPerS) }},
		{"/stream", 8, 6, func(l *Level) string { return figure(l.Rates.OutputPerSStream) }},
		{"req/s", 8, 3, func(l *Level) string { return figure(l.Rates.RequestsPerS) }},
		{"RPM", 8, 9, func(l *Level) string { return figure(l.Rates.RPM) }},
		{"TPM", 9, 9, func(l *Level) string { return figure(l.Rates.TotalTPM) }},
		{"KV %", 6, 5, func(l *Level) string { return whole(l.Engine.KVFillMean.Scale(100)) }},
		{"SM %", 6, 7, func(l *Level) string { return whole(l.sm.Scale(100)) }},
		{"DRAM %", 7, 7, func(l *Level) string { return whole(l.dram.Scale(100)) }},
		{"wait max", 9, 5, func(l *Level) string { return figure(l.Engine.WaitingMax) }},
		{"failed", 7, 3, func(l *Level) string { return fmt.Sprint(l.Requests.Failed) }},
		{"good %", 7, 6, func(l *Level) string { return whole(l.GoodShare.Scale(100)) }},
	}
}

// amount is the level's load, marked until it has settled.
func (l *Level) amount() string {
	text := fmt.Sprint(l.Load.Concurrency)
	if l.Load.Rate.OK {
		text = strconv.FormatFloat(l.Load.Rate.V, 'f', -1, 64) + "/s"
	}
	if !l.Settled {
		text += weakMark
	}
	return text
}

// outcome is how the level came out, in a few letters.
func (s *SweepSummary) outcome(l *Level) string {
	var parts []string
	if l.verdict != slo.NotJudged {
		parts = append(parts, l.verdict.Short())
	}
	return strings.Join(append(parts, s.marks(l)...), " ")
}

// marks name what is special about a level.
func (s *SweepSummary) marks(l *Level) []string {
	var out []string
	if s.Best != nil && s.Best.Mark == l.Load.Mark {
		out = append(out, "best")
	}
	if s.Knee != nil && s.Knee.Mark == l.Load.Mark {
		out = append(out, "knee")
	}
	return out
}

// briefLevels bounds the lines of a long session.
const briefLevels = 24

// Brief is a table of the newest loads that were on: a line each.
func Brief(k *bench.Keeper) string {
	levels := levelsOf(k.Outcomes())
	levels = levels[max(0, len(levels)-briefLevels):]
	t := page.Text{Width: 80}
	if len(levels) == 0 {
		return "sonde " + page.Plain(k.Source().URL) + ": no request ended\n"
	}
	target := &levels[len(levels)-1].Target
	out := page.Section{Columns: []page.Column{
		{Title: "load", Width: 14, Left: true}, {Title: "s", Width: 7}, {Title: "ok", Width: 6}, {Title: "failed", Width: 8},
		{Title: "TTFT p50", Width: 10}, {Title: "p95", Width: 8}, {Title: "TPOT p50", Width: 10}, {Title: "p95", Width: 8}, {Title: "tok/s", Width: 8},
	}}
	for i := range levels {
		l := &levels[i]
		out.Rows = append(out.Rows, []string{
			fmt.Sprintf("%s × %s/%s", l.amount(), l.Load.Prompt(), l.Load.Answer()), // streams or rate, prompt, output
			figure(l.DurationS), fmt.Sprint(l.Requests.OK), fmt.Sprint(l.Requests.Failed),
			figure(l.LatencyMS.TTFT.P50), figure(l.LatencyMS.TTFT.P95), figure(l.LatencyMS.TPOT.P50), figure(l.LatencyMS.TPOT.P95), figure(l.Rates.OutputPerS),
		})
	}
	t.Section(out)
	return fmt.Sprintf("sonde %s  %s%s", word(target.URL), word(target.Model), t.String())
}
