package panel

import (
	"fmt"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/text"
)

// StripHeight is how many lines the strip has.
const StripHeight = 6

// Strip is the load panel and all numbers of the compact picture, in lines that drop their
// last parts on a narrow screen.
func Strip(v *View, w int, focused bool) []string {
	t, f, other := v.Theme, v.Frame, v.otherNow()
	name := func(s string) text.Figure { return text.Fig(text.Pad(s, 5), t.Bold) }
	load := name("load")
	if focused {
		load.Style = t.Focus
	}
	rows := [StripHeight][]text.Figure{
		append([]text.Figure{load}, stripLoad(v)...),
		append([]text.Figure{name("done")}, stripDone(v)...),
		append([]text.Figure{name("TTFT")}, stripLatency(v, f.Client.TTFT, engineTTFT, other.TTFT, waitingNote(v))...),
		append([]text.Figure{name("TPOT")}, stripLatency(v, f.Client.TPOT, engineGap, other.TPOT, stripGap(v))...),
		append([]text.Figure{name("rate")}, stripRates(v)...),
		append([]text.Figure{name("GPU")}, stripMachine(v)...),
	}
	lines := make([]string, StripHeight)
	for i, parts := range rows {
		lines[i] = " " + text.Row(w-1, parts...)
	}
	return lines
}

func stripLoad(v *View) []text.Figure {
	t, f, l := v.Theme, v.Frame, v.Requested
	amount := text.Fig("c "+text.Right(whole(l.Concurrency), 3), t.Bold)
	if l.Rate > 0 {
		amount.Text = units.Sig2(v.rate()) + " req/s ≤ " + whole(l.Concurrency)
		if f.Load.Moving() && l.Trace == "" {
			amount.Text = units.Sig2(v.rate()) + " → " + units.Sig2(l.Rate) + " req/s ≤ " + whole(l.Concurrency)
		}
	}
	parts := append([]text.Figure{amount}, workersFigure(v)...)
	if v.capped() {
		parts = append(parts, text.Fig("cap reached", t.Note))
	}
	flight := "in flight " + text.Right(count(inFlight(f)), 3)
	switch long := longInFlight(f); {
	case f.Client.Retrying > 0:
		flight += " (" + count(f.Client.Retrying) + " retrying" + retryIn(f) + ")"
	case long > 0:
		flight += fmt.Sprintf(" (+%d long)", long)
	case f.Client.Prefill > 0:
		flight += " (" + count(f.Client.Prefill) + " prefill)"
	}
	lengths := func(name, requested string, got opt.Float) text.Figure {
		return text.Fig(name+" "+requested+"→"+tilde(f.Client.TokensEstimated, got.OK)+units.Known(got, units.Whole), t.Plain)
	}
	return append(parts, text.Fig(flight, t.Plain),
		lengths("in", PromptLength(l), f.Client.InputTokens), lengths("out", OutputLength(l), f.Client.OutputTokens),
		text.Fig(promptPrefix(l), t.Dim))
}

// stripBars is the room for what is ahead.
const stripBars = 16

func stripDone(v *View) []text.Figure {
	figures := append(append(countFigures(v), v.otherName()...), clientFigure(v))
	figures = append(figures, traceFigures(v)...)
	if bars := outlookBars(v, stripBars); bars != "" {
		figures = append(figures, text.Fig(bars, v.Theme.Plain))
	}
	return append(figures, text.Fig("Little "+littleText(v), v.Theme.Dim),
		text.Fig("hit "+prefixHits(v), v.Theme.Dim))
}

func stripLatency(v *View, s measure.Summary, engine pick, other measure.Summary, more []text.Figure) []text.Figure {
	t := v.Theme
	if own, ok := v.engineOwn(s, engine); ok {
		u := own.unit()
		return append(append([]text.Figure{text.Fig(u.Name, t.Dim)}, own.figures(t, u)...), text.Fig("engine metrics", t.Dim))
	}
	if s.N == 0 {
		return append([]text.Figure{text.Fig(units.Unknown, t.Dim)}, more...)
	}
	u := unitOf(s)
	parts := []text.Figure{text.Fig(u.Name, t.Dim), percentile(t, "p50", s, u, t.P50), percentile(t, "p95", s, u, t.P95), percentile(t, "p99", s, u, t.P99)}
	parts = v.ofNow(append(append(parts, more...), text.Fig("n "+count(s.N), t.Dim)))
	return append(parts, v.besideMedian(other, u)...)
}

// stripGap is for the line of TPOT: what the mean of a response hides.
func stripGap(v *View) []text.Figure {
	t, s := v.Theme, v.Frame.Client.Gap
	if s.N == 0 {
		return nil
	}
	u := unitOf(s)
	name := text.Fig("gap", t.Bold)
	if u.Name != unitOf(v.Frame.Client.TPOT).Name { // the one at the beginning of the line
		name.Text += " " + u.Name
	}
	return []text.Figure{name, percentile(t, "p99", s, u, t.P99), percentile(t, "max", s, u, t.Plain)}
}

func stripRates(v *View) []text.Figure {
	c, t := &v.Frame.Client, v.Theme
	if !v.Have || c.Window <= 0 {
		return []text.Figure{text.Fig(units.Unknown, t.Dim)}
	}
	if out, in, ok := v.engineRates(); ok {
		return []text.Figure{text.Fig("out "+text.Right(units.Known(out, units.Tally), 6)+" tok/s", t.First),
			text.Fig("in "+text.Right(units.Known(in, units.Tally), 6)+" tok/s", t.Second), text.Fig("engine metrics", t.Dim)}
	}
	own := v.ofNow([]text.Figure{
		text.Fig("out "+text.Right(rateText(c, outputPerS(c)), 6)+" tok/s", t.First),
		text.Fig("in "+text.Right(rateText(c, inputPerS(c)), 6)+" tok/s", t.Second),
		text.Fig("req "+text.Right(units.Sig2(c.RequestsPerS), 4)+"/s", t.Plain),
	})
	return append(own, v.besideTokens()...)
}

// stripMachine is the GPU and the engine.
func stripMachine(v *View) []text.Figure {
	f, t := v.Frame, v.Theme
	parts := []text.Figure{text.Fig(units.Unknown, t.Dim)}
	if len(f.GPU.GPUs) > 0 {
		parts = gpuFigures(t, f.GPU.GPUs)
	}
	if f.GPU.Scope.All() {
		parts = append(parts, text.Fig("all GPUs", t.Note))
	}
	if note := v.gpuAgeNote(); note != "" {
		parts = append(parts, text.Fig(note, t.Warn))
	}
	parts = append(parts, text.Fig(ofFleet("KV", FleetShort(f)), t.Bold))
	if !f.Engine.Have {
		return append(parts, text.Fig(units.Unknown, t.Dim))
	}
	parts = append(parts, engineFigures(v)...)
	if note := v.engineAgeNote(); note != "" {
		parts = append(parts, text.Fig(note, t.Warn))
	}
	return parts
}
