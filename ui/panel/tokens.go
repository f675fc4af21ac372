package panel

import (
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
)

// tokens draws the output and the input rate, each on its own scale: a prompt arrives at
// once, a response token by token.
type tokens struct{ out, in chart.Ranger }

func (k *tokens) Heading(v *View) text.Heading {
	c, t := &v.Frame.Client, v.Theme
	if !v.Have || c.Window <= 0 {
		return text.Heading{Name: "tokens/s", Figures: []text.Figure{text.Fig(units.Unknown, t.Dim)}}
	}
	first, second := curveSigns(t)
	figures := []text.Figure{
		text.Fig(first+"out "+text.Right(rateText(c, outputPerS(c)), 5), t.First),
		text.Fig(second+"in "+text.Right(rateText(c, inputPerS(c)), 5), t.Second),
		text.Fig("req "+text.Right(units.Sig2(c.RequestsPerS), 3), t.Plain),
	}
	if other := v.besideTokens(); other != nil {
		figures = append(figures[:2], other...)
	}
	return text.Heading{Name: "tokens/s", Column: v.History.Width, Figures: v.ofNow(figures)}
}

// inputPerS and outputPerS are the rates of the window. If there are responses and no tokens,
// nobody counted them, which is not zero.
func inputPerS(c *measure.Client) opt.Float  { return rate(c, c.InTokensPerS, c.InputTokens) }
func outputPerS(c *measure.Client) opt.Float { return rate(c, c.OutTokensPerS, c.OutputTokens) }

func rate(c *measure.Client, perS float64, length opt.Float) opt.Float {
	uncounted := perS == 0 && !length.OK && c.TTFT.N+c.E2E.N > 0
	return opt.Float{V: perS, OK: !uncounted}
}

// rateText marks a rate that was counted in chunks.
func rateText(c *measure.Client, rate opt.Float) string {
	return tilde(c.TokensEstimated, rate.OK) + units.Known(rate, units.Tally)
}

// tilde marks a known number that is an estimate.
func tilde(about, known bool) string {
	if about && known {
		return "~"
	}
	return ""
}

// engineRates are the engine's rates for other clients while we send nothing.
func (v *View) engineRates() (out, in opt.Float, ok bool) {
	if !v.watching(v.Frame.Client.E2E) {
		return out, in, false
	}
	out, in = v.History.Engine.OutPerS(), v.History.Engine.InPerS()
	return out, in, out.OK || in.OK
}

// whyEmpty is shown while there are no tokens of ours; see latency.whyEmpty.
func (k *tokens) whyEmpty(v *View, w, h int) []string {
	t := v.Theme
	out, in, ok := v.engineRates()
	if !ok {
		return text.Because(t, whyNoSamples(v), w, h)
	}
	return text.Instead(t, whyNoSamples(v), w, h, " engine metrics, last 10 s:",
		text.Fig("out "+units.Known(out, units.Tally), t.First), text.Fig("in "+units.Known(in, units.Tally), t.Second))
}

func (k *tokens) Body(v *View, w, h int) []string {
	if !v.History.Seen.Tokens {
		return k.whyEmpty(v, w, h)
	}
	t := v.Theme
	out, in := line{t.First, 'o', outOf, false, denseDots}, line{t.Second, '+', inOf, true, denseDots}
	lower := 1
	if !inputPerS(&v.Frame.Client).OK {
		return append(k.draw(v, w, h-lower, &k.out, out), t.Dim.Render(text.CleanTo("in  "+units.Unknown+" the server does not count prompt tokens", w)))
	}
	if h >= 9 {
		lower = max(3, h/3)
	}
	upper := k.draw(v, w, h-lower, &k.out, out)
	if lower == 1 {
		return append(upper, spark(v, "in", 4, w, 0, in.value, in.style))
	}
	return append(upper, k.draw(v, w, lower, &k.in, in)...)
}

func outOf(c *history.Column, _ int) opt.Float { return c.OutPerS() }
func inOf(c *history.Column, _ int) opt.Float  { return c.InPerS() }

func (k *tokens) draw(v *View, w, h int, r *chart.Ranger, l line) []string {
	return overTime(v, w, h, r.Scale(dots(v.History.Last(w), l.value), v.otherDots(w, l.value)), units.Short, l)
}

func (k *tokens) Zoomed(v *View, w, h int) []string {
	c, t := &v.Frame.Client, v.Theme
	out, in := outputPerS(c), inputPerS(c)
	total := opt.Float{V: out.V + in.V, OK: out.OK && in.OK}
	per := func(name string, v opt.Float) text.Figure { return text.Fig(name+" "+rateText(c, v), t.Plain) }
	first := text.Row(w, text.Fig(" per second", t.Dim), per("out", out), per("in", in), per("total", total),
		text.Fig("requests "+units.Sig2(c.RequestsPerS), t.Plain))
	second := text.Row(w, text.Fig(" per minute", t.Dim), per("out", out.Scale(60)), per("in", in.Scale(60)), per("total", total.Scale(60)),
		text.Fig("requests "+units.Tally(60*c.RequestsPerS), t.Plain),
		text.Fig("tok/s per stream "+units.Known(perStream(c.TPOT), units.Sig3), t.Plain))
	return append([]string{first, second}, k.Body(v, w, h-2)...)
}

// perStream is what one user sees: 1000 / mean TPOT.
func perStream(tpot measure.Summary) opt.Float {
	if tpot.N == 0 {
		return opt.Float{}
	}
	return opt.Of(1000 / tpot.Mean)
}

func (k *tokens) Explain(v *View) Explanation {
	return Explanation{
		Title: "tokens per second",
		Text: []string{
			"Output tokens count when they arrive, per column (chart) or over the window (title). Input tokens count when the first output token of their request arrives.",
			"Counts come from the server's usage data where it sends any. A \"~\" marks an estimate: chunks with text are counted instead.",
			"Each curve has its own scale.",
		},
		Source: fromClient,
		Now:    windowNow(v, v.Frame.Client.TTFT.N),
	}
}
