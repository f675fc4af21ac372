package board

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sonde/probe/canary"
	"sonde/probe/measure"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/panel"
	"sonde/ui/text"
)

// Sizes of the chart of TTFTs.
const (
	chartHeight = 6
	axisRoom    = 10 // cells of the axis at most
)

// detailLines are the text of the details, in lines of w cells.
func (m *model) detailLines(r *canary.Row, w int) []string {
	t := m.theme
	lines := append(panel.WholeVerdict(t, &r.Verdict, w), "")
	lines = append(lines, m.ttftChart(r, w)...)
	lines = append(lines, "")
	for _, f := range m.facts(r) {
		lead := " " + t.Dim.Render(text.Pad(f[0], factWidth)) + " "
		lines = append(lines, text.Indented(lead, f[1], w, t.Plain)...)
	}
	return lines
}

// factWidth is the room for the name of a fact.
const factWidth = 13

// facts are name and value of what is known.
func (m *model) facts(r *canary.Row) [][2]string {
	facts := [][2]string{
		{"endpoint", text.Clean(r.Target.Endpoint)},
		{"model", labelOr(r.Model)},
		{"state", fmt.Sprintf("%s for %s", r.State, units.Span(m.now.Sub(r.Since).Truncate(time.Second)))},
		{"last success", m.ago(r.LastSuccess)},
		{"newest probe", m.newest(r)},
		{"next probe", m.next(r)},
		{"TTFT", summary(r.Hour.TTFT)},
		{"TPOT", summary(r.Hour.TPOT)},
		{"E2E", summary(r.Hour.E2E)},
		{"set-up", units.Known(r.Setup, units.Millis) + " (DNS, TCP and TLS of the newest connection)"},
		{"probes", fmt.Sprintf("%d in the last hour, %d failed%s", r.Probes, r.Failed, byClass(r.Classes))},
		{"tokens", m.tokens(r)},
	}
	for _, s := range r.Target.SLOs {
		facts = append(facts, [2]string{"SLO", s.Text})
	}
	return facts
}

func (m *model) ago(at time.Time) string {
	if at.IsZero() {
		return "none yet"
	}
	return units.Span(m.now.Sub(at).Truncate(time.Second)) + " ago"
}

// newest is what became of the probe that ended last, or how long the present one has been waiting.
func (m *model) newest(r *canary.Row) string {
	if waits := m.now.Sub(r.Began); !r.Began.IsZero() && waits >= time.Second {
		return fmt.Sprintf("in flight for %s", units.Elapsed(waits))
	}
	switch {
	case r.LastEnded.IsZero():
		return "none has ended yet"
	case r.Last.Class == measure.OK:
		return fmt.Sprintf("TTFT %s, TPOT %s, E2E %s, %d + %d tokens, %s", units.Known(r.TTFT, units.Millis), units.Known(r.TPOT, units.Millis),
			units.Known(r.E2E, units.Millis), r.Last.InTokens, r.Last.OutTokens, m.ago(r.LastEnded))
	}
	return text.Clean(fmt.Sprintf("%s: %s, %s", r.Last.Class, cmp.Or(r.Last.Error, "no message"), m.ago(r.LastEnded)))
}

func (m *model) next(r *canary.Row) string {
	every := "one every " + units.Span(r.Every)
	if wait := r.Next.Sub(m.now).Round(time.Second); r.Began.IsZero() && wait > 0 {
		return fmt.Sprintf("in %s, %s", units.Span(wait), every)
	}
	return every
}

func (m *model) tokens(r *canary.Row) string {
	spent := fmt.Sprintf("%s in the last hour", units.Tally(float64(r.Spent)))
	if r.Target.Budget > 0 {
		spent += fmt.Sprintf(", of a budget of %s", units.Whole(float64(r.Target.Budget)))
	}
	return spent
}

// summary is a latency over the last hour.
func summary(s *measure.Summary) string {
	if s == nil || s.N == 0 {
		return units.Unknown
	}
	return fmt.Sprintf("p50 %s, p95 %s, max %s, n %d", units.Millis(s.P50), units.Millis(s.P95), units.Millis(s.Max), s.N)
}

// byClass lists how many failures each class has, the most frequent first.
func byClass(classes map[measure.Class]int) string {
	names := slices.SortedFunc(maps.Keys(classes), func(a, b measure.Class) int {
		return cmp.Or(cmp.Compare(classes[b], classes[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, c := range names {
		parts = append(parts, fmt.Sprintf("%s %d", c, classes[c]))
	}
	if parts == nil {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// ttftChart draws the TTFTs of the newest probes.
func (m *model) ttftChart(r *canary.Row, w int) []string {
	all := values(r.Recent)
	top := 0.0
	for _, v := range all {
		if v > top {
			top = v
		}
	}
	if top == 0 {
		return []string{m.theme.Dim.Render(" no TTFT yet")}
	}
	unit := units.LatencyFor(top, top)
	p := chart.New(min(w, len(all)+axisRoom), chartHeight, chart.Scale{Max: 1.1 * top}, unit.Label, m.theme.Border)
	p.ASCII = m.theme.ASCII
	p.Line(spread(all), m.theme.First, '*')
	head := fmt.Sprintf(" TTFT of the last %s, %s", units.Count(len(all), "probe"), unit.Name)
	return append([]string{m.theme.Dim.Render(head)}, p.Picture()...)
}

// spread gives each value the width of two dots, so that few probes are a line that can be seen.
func spread(all []float64) []float64 {
	out := make([]float64, 0, 2*len(all))
	for _, v := range all {
		out = append(out, v, v)
	}
	return out
}
