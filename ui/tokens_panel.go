package ui

import (
	"charm.land/lipgloss/v2"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/ui/chart"
)

// tokensPanel draws the output and the input rate, each on its own scale: a
// prompt comes at once, an answer token by token.
type tokensPanel struct {
	theme   *theme
	out, in chart.Ranger
}

func (k *tokensPanel) heading(p *picture) heading {
	c, t := &p.frame.Client, k.theme
	if !p.have || c.Window <= 0 {
		return heading{name: "tokens/s", figures: []figure{{unknown, t.dim}}}
	}
	return heading{name: "tokens/s", column: p.history.width, figures: []figure{
		{"out " + right(rateText(c, outputPerS(c)), 5), t.first},
		{"in " + right(rateText(c, inputPerS(c)), 5), t.second},
		{"req " + right(sig2(c.RequestsPerS), 3), t.plain},
	}}
}

func (k *tokensPanel) key(p *picture, zoomed bool) any {
	v := p.history.version
	key := [7]float64{float64(v.columns), float64(v.tokens), float64(inputPerS(&p.frame.Client).V)}
	if out, in, ok := p.engineRates(); ok {
		key[5], key[6] = out.Or(-1), in.Or(-1)
	}
	if zoomed {
		key[3], key[4] = p.frame.Client.OutTokensPerS, p.frame.Client.RequestsPerS
	}
	return key
}

// inputPerS and outputPerS are the rates of the window. No tokens at all although
// requests were answered means that nobody counted them, which is not zero.
func inputPerS(c *measure.Client) opt.Float  { return rate(c, c.InTokensPerS, c.InputTokens) }
func outputPerS(c *measure.Client) opt.Float { return rate(c, c.OutTokensPerS, c.OutputTokens) }

func rate(c *measure.Client, perS float64, length opt.Float) opt.Float {
	uncounted := perS == 0 && !length.OK && c.TTFT.N+c.E2E.N > 0
	return opt.Float{V: perS, OK: !uncounted}
}

// rateText marks a rate that was counted in chunks.
func rateText(c *measure.Client, rate opt.Float) string {
	return tilde(c.TokensEstimated, rate.OK) + known(rate, group)
}

// engineRates are what the engine writes and reads for others while we send nothing.
func (p *picture) engineRates() (out, in opt.Float, ok bool) {
	if !p.watching(p.frame.Client.E2E) {
		return out, in, false
	}
	log := p.history.engine
	out, in = log.meanOf(outputRate), log.meanOf(promptRate)
	return out, in, out.OK || in.OK
}

// whyEmpty stands where no token of ours has come; see latencyPanel.whyEmpty.
func (k *tokensPanel) whyEmpty(p *picture, w, h int) []string {
	t := k.theme
	out, in, ok := p.engineRates()
	if !ok {
		return t.because(whyNoSamples(p), w, h)
	}
	lines := []string{
		t.dim.Render(clip(" the engine's own, over 10 s:", w)),
		" " + t.row(w-1, figure{"out " + known(out, group), t.first}, figure{"in " + known(in, group), t.second}),
	}
	for _, s := range wrap(whyNoSamples(p), w-2) {
		lines = append(lines, t.dim.Render(" "+s))
	}
	return chart.Fit(lines, w, h)
}

func (k *tokensPanel) body(p *picture, w, h int) []string {
	if p.history.version.tokens == 0 {
		return k.whyEmpty(p, w, h)
	}
	lower := 1
	if !inputPerS(&p.frame.Client).OK {
		upper := k.draw(p, w, h-lower, &k.out, chart.Series{Style: k.theme.first, Mark: 'o'}, outRate)
		return append(upper, k.theme.dim.Render(cleanTo("in  "+unknown+" the server does not count prompts", w)))
	}
	if h >= 9 {
		lower = max(3, h/3)
	}
	upper := k.draw(p, w, h-lower, &k.out, chart.Series{Style: k.theme.first, Mark: 'o'}, outRate)
	if lower == 1 {
		shown := p.history.last(max(0, w-4))
		return append(upper, k.theme.spark("in", w, cells(shown, max(0, w-4), inRate), 0, k.theme.second))
	}
	return append(upper, k.draw(p, w, lower, &k.in, chart.Series{Style: k.theme.second, Mark: '+'}, inRate)...)
}

func (k *tokensPanel) draw(p *picture, w, h int, r *chart.Ranger, s chart.Series, rate func(*column) float64) []string {
	scale := r.Scale(columnLine(p.history.last(w), w, rate))
	plot := chart.PlotWidth(w, short, scale, h)
	shown := p.history.last(plot)
	s.Y = columnLine(shown, plot, rate)
	t := k.theme
	return chart.Lines(w, h, chart.LineOptions{
		Scale: scale, Label: short, LabelStyle: t.border,
		Marks: marks(shown, plot), MarkStyle: t.mark, ASCII: t.ascii,
	}, s)
}

func outRate(c *column) float64 { return c.perSecond(c.out) }
func inRate(c *column) float64  { return c.perSecond(c.in) }

// spark is a line of blocks after a short name.
func (t *theme) spark(name string, w int, ys []float64, top float64, st lipgloss.Style) string {
	return t.dim.Render(pad(name, min(4, w))) + chart.Spark(max(0, w-4), ys, top, st, t.ascii)
}

func (k *tokensPanel) zoomed(p *picture, w, h int) []string {
	c, t := &p.frame.Client, k.theme
	out, in := outputPerS(c), inputPerS(c)
	total := opt.Float{V: out.V + in.V, OK: out.OK && in.OK}
	per := func(name string, v opt.Float) figure { return figure{name + " " + rateText(c, v), t.plain} }
	first := t.row(w, figure{" per second", t.dim}, per("out", out), per("in", in), per("total", total),
		figure{"requests " + sig2(c.RequestsPerS), t.plain})
	second := t.row(w, figure{" per minute", t.dim}, per("out", out.Scale(60)), per("in", in.Scale(60)), per("total", total.Scale(60)),
		figure{"requests " + group(60*c.RequestsPerS), t.plain},
		figure{"tok/s per stream " + known(perStream(p), sig3), t.plain})
	return append([]string{first, second}, k.body(p, w, h-2)...)
}

func (k *tokensPanel) explain(p *picture) explanation {
	return explanation{
		title: "tokens per second",
		text: []string{
			"Output tokens by their arrival, over the length of the column (chart) or of the window (title). Input tokens count when the first output token of their request arrives.",
			"Counts come from the server's usage where it sends one. A \"~\" marks an estimate: chunks that carried text.",
			"The two curves have scales of their own.",
		},
		source: fromClient,
		now:    windowNow(p, p.frame.Client.TTFT.N),
	}
}

// perStream is what one user sees: 1000 / mean TPOT.
func perStream(p *picture) opt.Float {
	s := p.frame.Client.TPOT
	if s.N == 0 || s.Mean <= 0 {
		return opt.Float{}
	}
	return opt.Float{V: 1000 / s.Mean, OK: true}
}
