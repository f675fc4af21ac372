package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"sonde/probe"
	"sonde/ui/chart"
)

// loadPanel says what load was asked for and what became of it.
type loadPanel struct {
	theme *theme
	curve curveChart
}

func (l *loadPanel) heading(p *picture) heading {
	hd := heading{name: "load"}
	if p.wish.Rate > 0 {
		hd.figures = []figure{{"open loop", l.theme.dim}}
	}
	return hd
}

func (l *loadPanel) key(p *picture, zoomed bool) any {
	const anyWidth = 60 // wide enough that nothing is cut
	lines := l.lines(p, anyWidth)
	if zoomed {
		lines = append(lines, l.failures(p)...)
		lines = append(lines, fmt.Sprint(p.history.curve))
	}
	return strings.Join(lines, "\n")
}

func (l *loadPanel) body(p *picture, w, h int) []string {
	lines := l.lines(p, w-1)
	return chart.Fit(indent(lines), w, h) // the least important lines are the last
}

// indent keeps text off the frame.
func indent(lines []string) []string {
	for i := range lines {
		lines[i] = " " + lines[i]
	}
	return lines
}

// labelWidth is the room for the name of a line.
const labelWidth = 11

func (l *loadPanel) lines(p *picture, w int) []string {
	t, f := l.theme, p.frame
	lines := []string{
		l.amount(p, w),
		t.line("in flight", right(group(float64(f.Client.InFlight)), 6)+" "+l.inFlight(p)),
		t.line("prompt", l.tokens(p.wish.InputTokens, f.Client.InputTokens, w)),
		t.line("output", l.tokens(p.wish.OutputTokens, f.Client.OutputTokens, w)),
		t.line("prefix", right(cleanOr(f.Load.Prefix, unknown), 6)+t.dim.Render(" hit ")+prefixHits(p)),
		t.line("E2E", t.endToEnd(f.Client.E2E)),
		t.counts(f, w),
		l.honesty(p),
	}
	if why := f.Health.Why; f.Health.Bottleneck && why != "" {
		lines = append(lines, t.warn.Render(cleanTo("▲ "+why, w)))
	}
	if f.Client.LastError != "" {
		lines = append(lines, t.dim.Render(cleanTo("last: "+f.Client.LastError, w)))
	}
	return lines
}

// line is a name and a value.
func (t *theme) line(name, value string) string {
	return t.dim.Render(pad(name, labelWidth)) + value
}

// amount is the concurrency with its place between 1 and the safety cap.
func (l *loadPanel) amount(p *picture, w int) string {
	t := l.theme
	if p.wish.Rate > 0 {
		return t.line("rate", t.bold.Render(right(sig2(p.wish.Rate), 6))+t.dim.Render(" req/s ≤ "+group(float64(p.wish.Concurrency))))
	}
	value := t.bold.Render(right(group(float64(p.wish.Concurrency)), 6))
	return t.line("concurrency", value+" "+l.slider(p.wish.Concurrency, p.frame.Load.Max, min(12, w-labelWidth-7)))
}

// slider shows a setting on a logarithmic track: every doubling is as far.
func (l *loadPanel) slider(n, most, w int) string {
	track := w - 4
	if track < 3 || most < 2 {
		return ""
	}
	at := 0
	if n > 0 {
		at = int(math.Round(math.Log(float64(min(n, most))) / math.Log(float64(most)) * float64(track-1)))
	}
	return l.theme.dim.Render("− "+strings.Repeat("─", at)) + l.theme.accent.Render("●") +
		l.theme.dim.Render(strings.Repeat("─", track-1-at)+" +")
}

func (l *loadPanel) inFlight(p *picture) string {
	c := &p.frame.Client
	switch {
	case c.Retrying > 0:
		return l.theme.warn.Render(fmt.Sprintf("%d retrying", c.Retrying))
	case p.wish.Concurrency < c.InFlight:
		return l.theme.dim.Render("draining")
	case c.Prefill > 0:
		return l.theme.dim.Render(fmt.Sprintf("%d prefill", c.Prefill))
	}
	return ""
}

// tokens is asked → measured.
func (l *loadPanel) tokens(asked int, measured probe.OptionalFloat, w int) string {
	unit := ""
	if w >= labelWidth+18 {
		unit = " tok"
	}
	return right(group(float64(asked)), 6) + l.theme.dim.Render(" → ") + right(known(measured, group), 5) + l.theme.dim.Render(unit)
}

func prefixHits(p *picture) string { return percent(p.frame.Engine.Reading.PrefixHitRate) }

// counts is what became of the requests since the start or the last reset.
func (t *theme) counts(f *probe.Frame, w int) string {
	return strings.TrimRight(t.row(w, t.countFigures(f)...), " ")
}

func (t *theme) countFigures(f *probe.Frame) []figure {
	c := &f.Client
	figures := []figure{
		{"ok " + group(float64(c.OK)), t.plain},
		alarm("failed", c.Failed, t.plain, t.bad),
		alarm("429", c.ByClass[classRateLimited], t.plain, t.warn),
	}
	if c.Cancelled > 0 {
		figures = append(figures, figure{"cancelled " + group(float64(c.Cancelled)), t.dim})
	}
	return figures
}

const classRateLimited = probe.Class("rate_limited")

// alarm is a count that is no good news above zero.
func alarm(name string, n int, quiet, loud lipgloss.Style) figure {
	if n == 0 {
		return figure{name + " 0", quiet}
	}
	return figure{"▲ " + name + " " + group(float64(n)), loud}
}

// honesty is whether the numbers agree with each other and are not about us.
func (l *loadPanel) honesty(p *picture) string {
	t := l.theme
	return t.line("Little", right(known(p.frame.Client.Little, sig3), 6)+" "+t.client(p.frame))
}

// endToEnd is the median and the 95th percentile of whole requests.
func (t *theme) endToEnd(s probe.Summary) string {
	if s.N == 0 {
		return right(unknown, 6)
	}
	u := unitFor(s.P50)
	if s.P50 >= 1000 {
		u = seconds
	}
	p95 := " p95 " + u.of(s.P95) + " " + u.name
	if weak(s, "p95") {
		p95 = t.dim.Render(p95)
	}
	return right(u.of(s.P50), 6) + p95
}

func (t *theme) client(f *probe.Frame) string {
	if f.Health.Bottleneck {
		return t.warn.Render("▲ client limits")
	}
	return t.dim.Render("client ok")
}

func cleanOr(s, otherwise string) string {
	if s = clean(s); s == "" {
		return otherwise
	}
	return s
}

// zoomed adds the failures by class, the health of the client, and the curve of
// throughput over concurrency.
func (l *loadPanel) zoomed(p *picture, w, h int) []string {
	left := min(w, 44)
	lines := append(l.lines(p, left-1), "")
	lines = indent(append(lines, l.failures(p)...))
	if w < 2*left {
		return chart.Fit(lines, w, h)
	}
	return beside(lines, left, l.curve.draw(l.theme, p, w-left, h), w-left, h)
}

func (l *loadPanel) failures(p *picture) []string {
	t, f := l.theme, p.frame
	var lines []string
	classes := make([]string, 0, len(f.Client.ByClass))
	for c := range f.Client.ByClass {
		classes = append(classes, string(c))
	}
	slices.Sort(classes)
	for _, c := range classes {
		lines = append(lines, t.line(pad(clean(c), 16), right(group(float64(f.Client.ByClass[probe.Class(c)])), 6)))
	}
	if f.Client.LastError != "" {
		lines = append(lines, "")
		for _, s := range wrap(clean(f.Client.LastError), 42) {
			lines = append(lines, t.dim.Render(s))
		}
	}
	return append(lines, "",
		t.line("sent", right(group(float64(f.Client.Sent)), 6)),
		t.line("mean", right(known(f.Client.ConcurrencyMean, sig3), 6)+" in flight"),
		t.line("stamps", right(cleanOr(f.Health.Stamps, unknown), 6)+fmt.Sprintf("  late p99 %s ms", sig3(f.Health.LateMsP99))),
		t.line("client CPU", right(percent(f.Health.CPU), 6)+" of a core"))
}

func (l *loadPanel) explain(p *picture) explanation {
	return explanation{
		title: "load: what is asked of the server",
		text: []string{
			"concurrency: streams kept in flight; whenever one ends, the next is sent. Lowering it lets running requests end by themselves. With a rate (open loop) requests are sent on schedule and the concurrency is the cap.",
			"prompt and output: tokens asked → the mean that the server counted in the window. hit: share of prompt tokens that the engine took from its prefix cache.",
			"Little: in flight / (rate × mean E2E). It is about 1 in a steady state; otherwise the window is not one steady state.",
			"A level is a stretch at one setting. Its numbers count once it has settled.",
			"Zoomed: failures by class, and throughput over concurrency with a point for every settled level.",
		},
		source: fromClient,
		now:    windowNow(p, p.frame.Client.E2E.N),
	}
}
