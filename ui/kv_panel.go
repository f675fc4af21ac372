package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/ui/chart"
)

// kvPanel draws the engine's KV cache fill and below it its queue.
type kvPanel struct{ theme *theme }

// kvNearlyFull is the fill from which on preemption is near.
const kvNearlyFull = 0.9

func (k *kvPanel) heading(p *picture) heading {
	t, f := k.theme, p.frame
	hd := heading{name: ofFleet("KV cache", fleetOf(f)), short: ofFleet("KV", fleetShort(f)), column: p.history.width}
	if saysNothing(&f.Engine) {
		hd.figures = []figure{{unknown, t.dim}}
		return hd
	}
	r := &f.Engine.Reading
	fill := figure{right(percent(r.KVFill), 5), t.first}
	if r.KVFill.OK && r.KVFill.V >= kvNearlyFull {
		fill = figure{signWarn + " " + percent(r.KVFill), t.warn}
	}
	wait := figure{"wait " + right(known(r.Waiting, group), 2), t.plain}
	if r.Waiting.Or(0) > 0 {
		wait.style = t.second
	}
	hd.figures = []figure{fill, {"run " + right(known(r.Running, group), 2), t.plain}, wait}
	if note := ageNote(engineAge(f)); note != "" {
		hd.foot = []figure{{note, t.warn}, {clean(f.Engine.Why), t.dim}}
	}
	return hd
}

// kvKey is what the body depends on.
type kvKey struct {
	columns int
	at      time.Time
	have    bool
	why     string
	replica string
	gpuAt   time.Time // of what the table of replicas says of their GPUs; zero where there is none
}

func (k *kvPanel) key(p *picture, zoomed bool) any {
	e := &p.frame.Engine
	key := kvKey{columns: p.history.version.columns, at: e.Reading.At, have: e.Have, why: e.Why, replica: e.Reading.Replica}
	if zoomed && len(e.Replicas) > 1 {
		key.gpuAt = p.frame.GPU.At
	}
	return key
}

func (k *kvPanel) body(p *picture, w, h int) []string {
	if saysNothing(&p.frame.Engine) {
		return k.theme.because(whyNoEngine(p), w, h)
	}
	sparks := min(2, max(0, h-3))
	lines := k.fill(p, w, h-sparks)
	if sparks >= 1 {
		lines = append(lines, k.queue("wait", p, w, waiting, k.theme.second))
	}
	if sparks >= 2 {
		lines = append(lines, k.queue("run", p, w, running, k.theme.calm))
	}
	return lines
}

// fill draws how full the cache is, or why that is not known.
func (k *kvPanel) fill(p *picture, w, h int) []string {
	t, r := k.theme, &p.frame.Engine.Reading
	scale := chart.Scale{Min: 0, Max: 1}
	plot := chart.PlotWidth(w, percentLabel, scale, h)
	shown := p.history.last(plot)
	line := columnLine(shown, plot, kvFill)
	if !r.KVFill.OK && len(r.Notes) > 0 && !slices.ContainsFunc(line, func(y float64) bool { return !math.IsNaN(y) }) {
		return t.because(strings.Join(r.Notes, "; "), w, h)
	}
	return chart.Lines(w, h, chart.LineOptions{
		Scale: scale, Label: percentLabel, LabelStyle: t.border,
		Marks: marks(shown, plot), MarkStyle: t.mark, ASCII: t.ascii,
	}, chart.Series{Style: t.first, Mark: 'o', Y: line})
}

// saysNothing tells that there is no reading, or one without queue and KV cache:
// some engines have no more than a list of what is loaded.
func saysNothing(e *engine.Status) bool {
	r := &e.Reading
	return !e.Have || !r.KVFill.OK && !r.Running.OK && !r.Waiting.OK
}

func (k *kvPanel) queue(name string, p *picture, w int, of func(*column) float64, st lipgloss.Style) string {
	n := max(0, w-5)
	ys := cells(p.history.last(n), n, of)
	return k.theme.dim.Render(pad(name, min(5, w))) +
		chart.Spark(n, ys, max(4, largest(ys)), st, k.theme.ascii)
}

func kvFill(c *column) float64  { return c.kv.value() }
func running(c *column) float64 { return c.running.value() }
func waiting(c *column) float64 { return c.waiting.value() }

func percentLabel(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }

func whyNoEngine(p *picture) string {
	switch {
	case p.frame.Engine.Why != "" && len(p.frame.Engine.OnPage) > 1 && p.play == nil:
		return p.frame.Engine.Why + ", or go through them with the key m"
	case p.frame.Engine.Why != "":
		return p.frame.Engine.Why
	case !p.have:
		return "waiting for the first Frame"
	case p.frame.Engine.Have:
		return strings.Join(p.frame.Engine.Reading.Notes, "; ")
	}
	return "the engine's metrics have not been read yet"
}

func (k *kvPanel) zoomed(p *picture, w, h int) []string {
	if saysNothing(&p.frame.Engine) {
		return k.body(p, w, h)
	}
	t, r, log := k.theme, &p.frame.Engine.Reading, p.history.engine
	val := func(name, v string) figure { return figure{name + " " + v, t.plain} }
	first := t.row(w, val(" fill", percent(r.KVFill)), val("fullest rank", percent(r.KVFillMax)),
		val("capacity", known(r.KVCapacityTokens, group)+" tok"), val("preemptions", known(r.Preemptions, group)),
		val("prefix hits", percent(log.prefixHits())))
	second := t.row(w, val(" running", known(r.Running, group)), val("waiting", known(r.Waiting, group)),
		val("engine out", known(log.meanOf(outputRate), group)+" tok/s"), val("engine in", known(log.meanOf(promptRate), group)+" tok/s"),
		figure{"mean of 10 s", t.dim})
	lines := []string{first, second}
	lines = append(lines, t.replicas(&p.frame.Engine, w, h-len(lines))...)
	for _, n := range r.Notes {
		if len(lines) < h-6 {
			lines = append(lines, t.dim.Render(" "+cleanTo(n, w-1)))
		}
	}
	return append(lines, k.body(p, w, h-len(lines))...)
}

func (k *kvPanel) explain(p *picture) explanation {
	e := &p.frame.Engine
	source := "the engine's metrics"
	if e.Identity.MetricsURL != "" {
		source += ": " + clean(e.Identity.MetricsURL)
	}
	out := explanation{
		title: "KV cache and queue",
		text: []string{
			"The share of the engine's KV cache that is taken, as the engine says; the mean over ranks. Near 100 % it preempts: requests are thrown out and computed again.",
			"run: requests in the batch. wait: requests that the engine has accepted but not scheduled.",
		},
		source: source,
	}
	if age, ok := engineAge(p.frame); ok {
		out.now = append([]string{"age " + span(age)}, origins(e)...)
	}
	if of := fleetOf(p.frame); of != "" {
		out.now = append(out.now, "of "+of)
	}
	if e.Why != "" {
		out.now = append(out.now, "why "+clean(e.Why))
	}
	return out
}

// engineOf names the engine: "vLLM 0.11.0".
func engineOf(f *frame.Frame) string {
	id := &f.Engine.Identity
	name := clean(id.Name)
	if id.Version != "" && name != "" {
		name += " " + clean(id.Version)
	}
	return name
}
