package ui

import (
	"fmt"
	"strings"

	"sonde/probe/measure"
	"sonde/probe/opt"
)

// strip is the load panel and every number of the compact picture, in lines that
// drop their last parts when the screen is narrow.
func (t *theme) strip(p *picture, w int, focused bool) []string {
	f := p.frame
	name := func(s string) figure { return figure{pad(s, 5), t.bold} }
	load := name("load")
	if focused {
		load.style = t.focus
	}
	rows := [stripHeight][]figure{
		append([]figure{load}, t.stripLoad(p)...),
		append([]figure{name("done")}, t.stripDone(p)...),
		append([]figure{name("TTFT")}, t.stripLatency(p, f.Client.TTFT, ttftGrowth, waitingNote(t, p))...),
		append([]figure{name("TPOT")}, t.stripLatency(p, f.Client.TPOT, gapGrowth, t.stripGap(f.Client.Gap))...),
		append([]figure{name("rate")}, t.stripRates(p)...),
		append([]figure{name("GPU")}, t.stripMachine(p)...),
	}
	lines := make([]string, stripHeight)
	for i, parts := range rows {
		lines[i] = " " + t.row(w-1, parts...)
	}
	return lines
}

func (t *theme) stripLoad(p *picture) []figure {
	f := p.frame
	amount := figure{"c " + right(group(float64(p.wish.Concurrency)), 3), t.bold}
	if p.wish.Rate > 0 {
		amount.text = sig2(p.wish.Rate) + " req/s ≤ " + group(float64(p.wish.Concurrency))
	}
	parts := []figure{amount}
	if p.capped() {
		parts = append(parts, figure{"cap reached", t.note})
	}
	flight := "in flight " + right(group(float64(inFlight(f))), 3)
	if long := longInFlight(f); long > 0 {
		flight += fmt.Sprintf(" (+%d long)", long)
	} else if f.Client.Prefill > 0 {
		flight += " (" + group(float64(f.Client.Prefill)) + " prefill)"
	}
	lengths := func(name, asked string, got opt.Float) figure {
		return figure{name + " " + asked + "→" + tilde(f.Client.TokensEstimated, got.OK) + known(got, group), t.plain}
	}
	return append(parts, figure{flight, t.plain},
		lengths("in", promptLength(p.wish), f.Client.InputTokens), lengths("out", group(float64(p.wish.OutputTokens)), f.Client.OutputTokens),
		figure{promptPrefix(p.wish), t.dim})
}

func (t *theme) stripDone(p *picture) []figure {
	f := p.frame
	return append(t.countFigures(f), t.client(f), figure{"Little " + known(f.Client.Little, sig3), t.dim},
		figure{"hit " + prefixHits(p), t.dim})
}

func (t *theme) stripLatency(p *picture, s measure.Summary, engine growth, more []figure) []figure {
	if own, ok := p.engineOwn(s, engine); ok {
		u := unitFor(own.p50.ms)
		parts := t.estimated(own, u)
		parts[2].text += " " + u.name
		return append(parts, figure{"of the engine", t.dim})
	}
	if s.N == 0 {
		return append([]figure{{unknown, t.dim}}, more...)
	}
	u := unitFor(s.P50)
	p99 := t.percentile("p99", s, s.P99, u, t.p99)
	p99.text += " " + u.name
	parts := []figure{t.percentile("p50", s, s.P50, u, t.p50), t.percentile("p95", s, s.P95, u, t.p95), p99}
	return append(append(parts, more...), figure{"n " + group(float64(s.N)), t.dim})
}

// stripGap is for the line of TPOT: what the mean of an answer hides.
func (t *theme) stripGap(s measure.Summary) []figure {
	if s.N == 0 {
		return nil
	}
	u := unitFor(s.P50)
	highest := t.percentile("max", s, s.Max, u, t.plain)
	highest.text += " " + u.name
	return []figure{{"gap", t.bold}, t.percentile("p99", s, s.P99, u, t.p99), highest}
}

func (t *theme) stripRates(p *picture) []figure {
	c := &p.frame.Client
	if !p.have || c.Window <= 0 {
		return []figure{{unknown, t.dim}}
	}
	if out, in, ok := p.engineRates(); ok {
		return []figure{{"out " + right(known(out, group), 6) + " tok/s", t.first},
			{"in " + right(known(in, group), 6) + " tok/s", t.second}, {"of the engine", t.dim}}
	}
	return []figure{
		{"out " + right(rateText(c, outputPerS(c)), 6) + " tok/s", t.first},
		{"in " + right(rateText(c, inputPerS(c)), 6) + " tok/s", t.second},
		{"req " + right(sig2(c.RequestsPerS), 4) + "/s", t.plain},
	}
}

// stripMachine is the GPU and the engine.
func (t *theme) stripMachine(p *picture) []figure {
	f := p.frame
	var parts []figure
	if len(f.GPU.GPUs) > 0 {
		all := overGPUs(f.GPU.GPUs)
		parts = append(parts, gpuFigures(t, all)...)
	} else {
		parts = append(parts, figure{unknown, t.dim})
	}
	if strings.HasPrefix(f.GPU.Scope, "all") {
		parts = append(parts, figure{"of all", t.note})
	}
	if note := gpuAgeNote(f); note != "" {
		parts = append(parts, figure{note, t.warn})
	}
	parts = append(parts, figure{ofFleet("KV", fleetShort(f)), t.bold})
	if !f.Engine.Have {
		return append(parts, figure{unknown, t.dim})
	}
	r := &f.Engine.Reading
	parts = append(parts, figure{right(percent(r.KVFill), 5), t.first},
		figure{"run " + right(known(r.Running, group), 2), t.plain}, figure{"wait " + right(known(r.Waiting, group), 2), t.plain})
	if note := ageNote(engineAge(f)); note != "" {
		parts = append(parts, figure{note, t.warn})
	}
	return parts
}
