package ui

import (
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
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
		lines = append(lines, l.failures(p, anyWidth)...)
		lines = append(lines, fmt.Sprint(p.levels.points()))
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

// labelWidth is the room for the name of a line, numberWidth that for its number.
const labelWidth, numberWidth = 11, 6

func (l *loadPanel) lines(p *picture, w int) []string {
	t, f := l.theme, p.frame
	lines := []string{
		l.amount(p, w),
		t.entry(w, "in flight", t.count(inFlight(f)), l.inFlight(p)...),
		l.tokens(w, "prompt", promptLength(p.wish), f.Client.InputTokens, f.Client.TokensEstimated),
		l.tokens(w, "output", group(float64(p.wish.OutputTokens)), f.Client.OutputTokens, f.Client.TokensEstimated),
		t.entry(w, "prefix", figure{cleanOr(promptPrefix(p.wish), unknown), t.plain}, t.dim.Render(" hit ")+prefixHits(p)),
		t.endToEnd(p, w),
		t.counts(f, w),
		l.honesty(p, w),
	}
	if why := f.Health.Why; f.Health.Bottleneck && why != "" {
		lines = append(lines, styled(wrap(signWarn+" "+clean(why), w), t.warn)...)
	}
	if f.Client.LastError != "" {
		lines = append(lines, styled(wrap("last: "+clean(f.Client.LastError), w), t.dim)...)
	}
	return lines
}

func styled(lines []string, st lipgloss.Style) []string {
	for i := range lines {
		lines[i] = st.Render(lines[i])
	}
	return lines
}

// count is a plain whole number.
func (t *theme) count(n int) figure { return figure{group(float64(n)), t.plain} }

// amount is the concurrency with its place between 1 and the safety cap.
func (l *loadPanel) amount(p *picture, w int) string {
	t, wish := l.theme, p.wish
	if wish.Rate > 0 {
		under := " ≤ " + group(float64(wish.Concurrency))
		return t.entry(w, "rate", figure{sig2(wish.Rate), t.bold},
			t.dim.Render(" req/s"+under), t.dim.Render("/s"+under), t.dim.Render(" req/s"))
	}
	number := figure{group(float64(wish.Concurrency)), t.bold}
	if p.capped() {
		return t.entry(w, "concurrency", number,
			t.note.Render(" cap "+group(float64(p.frame.Load.Max))+" reached"), t.note.Render(" cap reached"), t.note.Render(" cap"))
	}
	track := l.slider(wish.Concurrency, p.frame.Load.Max, min(12, w-labelWidth-numberWidth-1))
	return t.entry(w, "concurrency", number, " "+track)
}

// capped tells that a closed loop cannot be turned up any further.
func (p *picture) capped() bool {
	return p.wish.Rate <= 0 && p.wish.Concurrency > 0 && p.wish.Concurrency == p.frame.Load.Max
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
	return l.theme.dim.Render("− "+strings.Repeat("─", at)) + l.theme.accent.Render("┃") +
		l.theme.dim.Render(strings.Repeat("─", track-1-at)+" +")
}

// longInFlight counts the long prompts that were fired on purpose: they come on
// top of the load that was asked for.
func longInFlight(f *frame.Frame) int {
	n := 0
	for i := range f.Streams {
		if c := &f.Streams[i]; c.Long && c.State != measure.StreamIdle && !c.Ended {
			n++
		}
	}
	return n
}

// inFlight counts the requests of the load that was asked for.
func inFlight(f *frame.Frame) int { return max(0, f.Client.InFlight-longInFlight(f)) }

// inFlight gives what to say about the requests in flight, the longest first.
func (l *loadPanel) inFlight(p *picture) []string {
	c, t := &p.frame.Client, l.theme
	number := func(n int, names ...string) (texts []string) {
		for _, name := range names {
			texts = append(texts, " "+group(float64(n))+" "+name)
		}
		return texts
	}
	switch long := longInFlight(p.frame); {
	case p.beforeLoad():
		return []string{t.note.Render(" " + stageWord(p.frame.Load.Stage))}
	case c.Retrying > 0:
		return styled(number(c.Retrying, "retrying", "retry"), t.warn)
	case p.wish.Concurrency < inFlight(p.frame):
		return []string{t.dim.Render(" draining")}
	case long > 0:
		return []string{t.bold.Render(" +" + group(float64(long)) + " long")}
	case c.Prefill > 0:
		return styled(number(c.Prefill, "prefill"), t.dim)
	}
	return nil
}

// tokens is asked → measured.
func (l *loadPanel) tokens(w int, name, asked string, measured opt.Float, about bool) string {
	t := l.theme
	rest := t.dim.Render(" → ") + right(tilde(about, measured.OK)+known(measured, group), 5)
	return t.entry(w, name, figure{asked, t.plain}, rest+t.dim.Render(" tok"), rest)
}

// tilde marks a known number that is an estimate.
func tilde(about, known bool) string {
	if about && known {
		return "~"
	}
	return ""
}

func prefixHits(p *picture) string { return percent(p.history.engine.prefixHits()) }

// counts is what became of the requests since the start or the last reset.
func (t *theme) counts(f *frame.Frame, w int) string {
	return strings.TrimRight(t.row(w, t.countFigures(f)...), " ")
}

func (t *theme) countFigures(f *frame.Frame) []figure {
	c := &f.Client
	figures := []figure{
		{"ok " + group(float64(c.OK)), t.plain},
		t.alarm("failed", c.Failed, signBad, t.bad),
		t.alarm("429", c.ByClass[classRateLimited], signWarn, t.warn),
	}
	if c.Cancelled > 0 {
		figures = append(figures, figure{"cancelled " + group(float64(c.Cancelled)), t.dim})
	}
	return figures
}

const (
	classRateLimited = measure.Class("rate_limited")
	classLoading     = measure.Class("loading")
)

// alarm is a count that is no good news above zero; then it carries a sign.
func (t *theme) alarm(name string, n int, sign string, loud lipgloss.Style) figure {
	if n == 0 {
		return figure{name + " 0", t.plain}
	}
	return figure{sign + " " + name + " " + group(float64(n)), loud}
}

// honesty is whether the numbers agree with each other and are not about us.
func (l *loadPanel) honesty(p *picture, w int) string {
	t := l.theme
	client := t.client(p.frame)
	return t.entry(w, "Little", figure{known(p.frame.Client.Little, sig3), t.plain}, " "+client.style.Render(client.text))
}

// endToEnd is the median and the 95th percentile of whole requests.
func (t *theme) endToEnd(p *picture, w int) string {
	s := p.frame.Client.E2E
	if own, ok := p.engineOwn(s, e2eGrowth); ok {
		u := unitOfRequests(own.p50.ms)
		rest := " p95 " + own.p95.in(u) + " " + u.name
		return t.entry(w, "E2E", figure{own.p50.in(u), t.plain}, rest+t.dim.Render(" est."), t.dim.Render(" "+u.name+" est."))
	}
	if s.N == 0 {
		return t.entry(w, "E2E", figure{unknown, t.plain})
	}
	u := unitOfRequests(s.P50)
	p95 := " p95 " + u.with(s.P95)
	if weak(s, "p95") {
		p95 = t.dim.Render(p95)
	}
	return t.entry(w, "E2E", figure{u.of(s.P50), t.plain}, p95, " "+u.name)
}

// unitOfRequests is the unit for whole requests: seconds from one second on.
func unitOfRequests(ms float64) scaleUnit {
	if ms >= 1000 {
		return seconds
	}
	return unitFor(ms)
}

func (t *theme) client(f *frame.Frame) figure {
	if f.Health.Bottleneck {
		return figure{signWarn + " client limits", t.warn}
	}
	return figure{"client ok", t.dim}
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
	lines := append(l.lines(p, left-2), "")
	lines = indent(append(lines, l.failures(p, left-2)...))
	if w < 2*left {
		return chart.Fit(lines, w, h)
	}
	return beside(lines, left, l.curve.draw(l.theme, p, w-left, h), w-left, h)
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
