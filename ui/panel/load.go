package panel

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// load shows the requested load and its outcome.
type load struct{ curve Curve }

func (l *load) Heading(v *View) text.Heading {
	hd := text.Heading{Name: "load"}
	if talk := conversations(v.Requested); talk != "" {
		hd.Figures = []text.Figure{text.Fig(talk, v.Theme.Plain)}
	}
	if v.Requested.Trace != "" {
		hd.Figures = append(hd.Figures, traceFigures(v)...)
	} else if v.Requested.Rate > 0 {
		hd.Figures = append(hd.Figures, text.Fig(v.Requested.Arrivals.String(), v.Theme.Dim), text.Fig("open loop", v.Theme.Dim))
	}
	hd.Figures = append(hd.Figures, workersFigure(v)...)
	hd.Foot = v.otherName()
	return hd
}

// conversations describes those of a load: "8 turns, think 2 s"; "" without them.
func conversations(l frame.Load) string {
	switch {
	case l.Turns < 2:
		return ""
	case l.Rate > 0 || l.Think == 0:
		return whole(l.Turns) + " turns"
	}
	return whole(l.Turns) + " turns, think " + units.Span(l.Think)
}

func (l *load) Body(v *View, w, h int) []string {
	return chart.Fit(indent(l.lines(v, w-1)), w, h) // the least important lines are the last
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

// entry is a name, a number aligned to the right, and the first of the texts after it that
// fits into w cells, without the alignment if need be. What does not fit is omitted.
func entry(t *theme.Palette, w int, name string, number text.Figure, rests ...string) string {
	left := ansi.StringWidth(name) + ansi.StringWidth(number.Text)
	for _, rest := range append(rests, "") {
		if room := w - left - ansi.StringWidth(rest); room > 0 {
			gap := min(room, max(1, labelWidth+numberWidth-left))
			return t.Dim.Render(name) + strings.Repeat(" ", gap) + number.Style.Render(number.Text) + rest
		}
	}
	return t.Dim.Render(text.Clip(name, w))
}

func (l *load) lines(v *View, w int) []string {
	t, f := v.Theme, v.Frame
	lines := []string{
		amountLine(v, w),
		entry(t, w, "in flight", text.Fig(count(inFlight(f)), t.Plain), flightNotes(v)...),
		tokensLine(v, w, "prompt", PromptLength(v.Requested), f.Client.InputTokens),
		tokensLine(v, w, "output", OutputLength(v.Requested), f.Client.OutputTokens),
		entry(t, w, "prefix", text.Fig(text.CleanOr(promptPrefix(v.Requested), units.Unknown), t.Plain), t.Dim.Render(" hit ")+prefixHits(v)),
		endToEnd(v, w),
		strings.TrimRight(text.Row(w, countFigures(v)...), " "),
		entry(t, w, "Little", text.Fig(littleText(v), t.Plain), " "+render(clientFigure(v))),
	}
	if ahead := outlookLine(v, w); ahead != "" {
		lines = slices.Insert(lines, 1, ahead)
	}
	if why := f.Health.Why; f.Health.Bottleneck && why != "" {
		lines = append(lines, text.Styled(text.Wrap(theme.SignWarn+" "+text.Clean(why), w), t.Warn)...)
	}
	if f.Client.LastError != "" {
		lines = append(lines, text.Styled(text.Wrap("last: "+text.Clean(f.Client.LastError), w), t.Dim)...)
	}
	return lines
}

// littleText is Little's law, which says nothing until the load is steady.
func littleText(v *View) string {
	if !v.Frame.Load.Settled {
		return units.Unknown
	}
	return units.Known(v.Frame.Client.Little, units.Sig3)
}

func render(f text.Figure) string { return f.Style.Render(f.Text) }

// amountLine is the concurrency, and where it is between 1 and the safety cap.
func amountLine(v *View, w int) string {
	t, l := v.Theme, v.Requested
	if l.Rate > 0 {
		under := " ≤ " + whole(l.Concurrency)
		if v.Frame.Load.Moving() && l.Trace == "" {
			under = " → " + units.Sig2(l.Rate) + under
		}
		return entry(t, w, "rate", text.Fig(units.Sig2(v.rate()), t.Bold),
			t.Dim.Render(" req/s"+under), t.Dim.Render("/s"+under), t.Dim.Render(" req/s"))
	}
	number := text.Fig(whole(l.Concurrency), t.Bold)
	if v.Frame.Load.Watch {
		return entry(t, w, "concurrency", number, t.Note.Render(" watching"))
	}
	if v.capped() {
		return entry(t, w, "concurrency", number,
			t.Note.Render(" cap "+whole(v.Frame.Load.Max)+" reached"), t.Note.Render(" cap reached"), t.Note.Render(" cap"))
	}
	return entry(t, w, "concurrency", number, " "+slider(t, l.Concurrency, v.Frame.Load.Max, min(12, w-labelWidth-numberWidth-1)))
}

// slider shows a setting on a logarithmic track: every doubling is the same distance.
func slider(t *theme.Palette, n, most, w int) string {
	track := w - 4
	if track < 3 || most < 2 {
		return ""
	}
	at := 0
	if n > 0 {
		at = int(math.Round(math.Log(float64(min(n, most))) / math.Log(float64(most)) * float64(track-1)))
	}
	return t.Dim.Render("− "+strings.Repeat("─", at)) + t.Accent.Render("┃") + t.Dim.Render(strings.Repeat("─", track-1-at)+" +")
}

// longInFlight counts the long prompts sent on purpose, which are extra to the requested
// load.
func longInFlight(f *frame.Frame) int {
	n := 0
	for i := range f.Streams {
		if c := &f.Streams[i]; c.Long && c.State != measure.StreamIdle && !c.Ended {
			n++
		}
	}
	return n
}

// inFlight counts the requests of the requested load.
func inFlight(f *frame.Frame) int { return max(0, f.Client.InFlight-longInFlight(f)) }

// flightNotes are remarks about the requests in flight, the longest first.
func flightNotes(v *View) []string {
	c, t := &v.Frame.Client, v.Theme
	number := func(n int, names ...string) (texts []string) {
		for _, name := range names {
			texts = append(texts, " "+count(n)+" "+name)
		}
		return texts
	}
	switch long := longInFlight(v.Frame); {
	case v.beforeLoad():
		return []string{t.Note.Render(" " + stages[v.Frame.Load.Stage].word)}
	case c.Retrying > 0:
		return text.Styled(number(c.Retrying, "retrying"+retryIn(v.Frame), "retry"+retryIn(v.Frame), "retrying", "retry"), t.Warn)
	case v.Requested.Concurrency < inFlight(v.Frame):
		return []string{t.Dim.Render(" draining")}
	case long > 0:
		return []string{t.Bold.Render(" +" + count(long) + " long")}
	case c.Thinking > 0:
		return text.Styled(number(c.Thinking, "thinking", "think"), t.Dim)
	case c.Prefill > 0:
		return text.Styled(number(c.Prefill, "prefill"), t.Dim)
	}
	return nil
}

// retryIn says when the first refused stream tries again, if that is not soon.
func retryIn(f *frame.Frame) string {
	wait := f.Client.RetryAt - f.At
	if wait < time.Minute {
		return ""
	}
	return " in " + units.Span(wait.Round(time.Minute))
}

// given reports whether the prompts come from a file: then no length is requested, and they
// are sent unchanged.
func given(l frame.Load) bool { return l.InputTokens == 0 }

// PromptLength is the requested length, in tokens.
func PromptLength(l frame.Load) string {
	if given(l) {
		return "given"
	}
	return l.InputShape.Text(l.InputTokens, whole)
}

// OutputLength is that of answers.
func OutputLength(l frame.Load) string { return l.OutputShape.Text(l.OutputTokens, whole) }

// promptPrefix is what prompts have in common.
func promptPrefix(l frame.Load) string {
	switch {
	case given(l):
		return "given"
	case l.Trace != "":
		return "trace"
	}
	return text.Clean(l.Prefix)
}

// tokensLine is requested → measured.
func tokensLine(v *View, w int, name, requested string, measured opt.Float) string {
	t := v.Theme
	rest := t.Dim.Render(" → ") + text.Right(tilde(v.Frame.Client.TokensEstimated, measured.OK)+units.Known(measured, units.Whole), 5)
	return entry(t, w, name, text.Fig(requested, t.Plain), rest+t.Dim.Render(" tok"), rest)
}

func prefixHits(v *View) string { return units.Percent(v.History.Engine.PrefixHits()) }

// countFigures are the outcomes of requests since the start or the last reset.
func countFigures(v *View) []text.Figure {
	t, c := v.Theme, &v.Frame.Client
	alarm := func(name string, n int, sign string, loud lipgloss.Style) text.Figure {
		if n == 0 {
			return text.Fig(name+" 0", t.Plain)
		}
		return text.Fig(sign+" "+name+" "+count(n), loud)
	}
	failed := alarm("failed", c.Failed, theme.SignBad, t.Bad)
	trouble := []text.Figure{failed}
	if refused := c.ByClass[classLoading]; refused > 0 { // by a model that is not ready
		trouble = []text.Figure{failed, alarm("refused", refused, theme.SignBad, t.Bad)}
		if c.Failed == 0 {
			slices.Reverse(trouble) // what there is none of has no need of the room
		}
	}
	figures := append([]text.Figure{text.Fig("ok "+count(c.OK), t.Plain)}, trouble...)
	figures = append(figures, alarm("429", c.ByClass[classRateLimited], theme.SignWarn, t.Warn))
	if c.Cancelled > 0 {
		figures = append(figures, text.Fig("cancelled "+count(c.Cancelled), t.Dim))
	}
	return figures
}

const (
	classRateLimited = measure.Class("rate_limited")
	classLoading     = measure.Class("loading")
)

// endToEnd is p50 and p95 of whole requests, in seconds if they take one or more.
func endToEnd(v *View, w int) string {
	t, s := v.Theme, v.Frame.Client.E2E
	if own, ok := v.engineOwn(s, engineE2E); ok {
		u := units.LatencyFor(own.p95, own.p95)
		rest := " p95 " + own.high(u) + " " + u.Name
		return entry(t, w, "E2E", text.Fig(own.median(u), t.Plain), rest+t.Dim.Render(" est."), t.Dim.Render(" "+u.Name+" est."))
	}
	if s.N == 0 {
		return entry(t, w, "E2E", text.Fig(units.Unknown, t.Plain))
	}
	u := units.LatencyFor(s.P95, s.P95)
	p95 := t.Unless(weak(s, "p95")).Render(" p95 " + u.With(s.P95))
	return entry(t, w, "E2E", text.Fig(u.Of(s.P50), t.Plain), p95, " "+u.Name)
}

func clientFigure(v *View) text.Figure {
	if v.Frame.Health.Bottleneck {
		return text.Fig(theme.SignWarn+" client-bound", v.Theme.Warn)
	}
	return text.Fig("client ok", v.Theme.Dim)
}

// Zoomed adds the failures by class, the health of the client, and the curve of
// throughput over concurrency.
func (l *load) Zoomed(v *View, w, h int) []string {
	left := min(w, 44)
	lines := append(append(l.lines(v, left-2), traceLines(v, left-2)...), "")
	lines = append(lines, failures(v, left-2)...)
	lines = indent(append(lines, workerLines(v, left-2)...))
	if w < 2*left {
		return chart.Fit(lines, w, h)
	}
	return text.Beside(lines, left, l.curve.Draw(v, w-left, h), w-left, h)
}

// classWidth is the room for the name of a class of failures: the longest have 15.
const classWidth = 17

// failures are counts by class, the last error in full, and the health of the client, in
// lines of w cells.
func failures(v *View, w int) []string {
	t, f := v.Theme, v.Frame
	var lines []string
	for _, c := range slices.Sorted(maps.Keys(f.Client.ByClass)) {
		name := text.Pad(text.Clean(string(c)), classWidth)
		lines = append(lines, t.Dim.Render(name)+text.Right(count(f.Client.ByClass[c]), numberWidth))
	}
	plain := func(s string) text.Figure { return text.Fig(s, t.Plain) }
	return append(lines, "",
		entry(t, w, "sent", plain(count(f.Client.Sent))),
		entry(t, w, "mean", plain(units.Known(f.Client.ConcurrencyMean, units.Sig3)), " in flight"),
		entry(t, w, "timestamps", plain(text.CleanOr(f.Health.Stamps, units.Unknown)), "  late p99 "+units.Sig3(f.Health.LateMsP99)+" ms"),
		entry(t, w, "client CPU", plain(units.Percent(f.Health.CPU)), " of a core  GC "+units.Sig3(f.Health.GCPauseMs)+" ms"))
}

func (l *load) Explain(v *View) Explanation {
	e := Explanation{
		Title: "load: what is requested from the server",
		Text: []string{
			"concurrency: requests kept in flight. When one ends, the next is sent. After lowering it, running requests still finish. With a rate (open loop), requests are sent on schedule and the concurrency is a cap.",
			"ahead: arrivals per second of a ramp or a trace: before ┃ the last ones, after it the next.",
			"prompt and output: requested tokens → the mean that the server counted in the window. With a spread: 1024±256, 512..4096, 1024 ln0.6 (lognormal). hit: share of prompt tokens that the engine found in its prefix cache.",
			"Little: in flight / (rate × mean E2E), once the level has settled. It is about 1 in a steady state.",
			"A level is the time spent at one load setting. Its numbers count once it has settled.",
			"Zoomed: failures by class, and throughput over concurrency with a point for every settled level.",
		},
		Source: fromClient,
		Now:    windowNow(v, v.Frame.Client.E2E.N),
	}
	if v.Requested.Turns > 1 {
		e.Text = append(e.Text, "Conversations: each request sends the history and one message more. A stream that thinks is between two turns: part of the load, and not in flight.")
	}
	return e
}
