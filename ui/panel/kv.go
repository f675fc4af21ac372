package panel

import (
	"slices"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/history"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// kv draws the engine's KV cache fill and below it its queue.
type kv struct{}

// kvNearlyFull is the fill from which on preemption is near.
const kvNearlyFull = 0.9

func (kv) Heading(v *View) text.Heading {
	t, f := v.Theme, v.Frame
	hd := text.Heading{Name: ofFleet("KV cache", fleetOf(f)), Short: ofFleet("KV", FleetShort(f)), Column: v.History.Width}
	if reportsNothing(&f.Engine) {
		hd.Figures = []text.Figure{text.Fig(units.Unknown, t.Dim)}
		return hd
	}
	hd.Figures = engineFigures(v)
	if r := &f.Engine.Reading; r.KVFill.OK && r.KVFill.V >= kvNearlyFull {
		hd.Figures[0] = text.Fig(theme.SignWarn+" "+units.Percent(r.KVFill), t.Warn)
	}
	if f.Engine.Reading.Waiting.Or(0) > 0 {
		hd.Figures[2].Style = t.Second
	}
	hd.Figures = slices.Insert(hd.Figures, 1, v.besideKV()...)
	if note := v.engineAgeNote(); note != "" {
		hd.Foot = []text.Figure{text.Fig(note, t.Warn), text.Fig(text.Clean(f.Engine.Why), t.Dim)}
	}
	return hd
}

// engineFigures are fill and queue.
func engineFigures(v *View) []text.Figure {
	t, r := v.Theme, &v.Frame.Engine.Reading
	return []text.Figure{
		text.Fig(text.Right(units.Percent(r.KVFill), 5), t.First),
		text.Fig("run "+text.Right(units.Known(r.Running, units.Tally), 2), t.Plain),
		text.Fig("wait "+text.Right(units.Known(r.Waiting, units.Tally), 2), t.Plain),
	}
}

func (k kv) Body(v *View, w, h int) []string {
	if reportsNothing(&v.Frame.Engine) {
		return text.Because(v.Theme, whyNoEngine(v), w, h)
	}
	sparks := min(2, max(0, h-3))
	lines := k.fill(v, w, h-sparks)
	if sparks >= 1 {
		lines = append(lines, spark(v, "wait", 5, w, 4, waiting, v.Theme.Second))
	}
	if sparks >= 2 {
		lines = append(lines, spark(v, "run", 5, w, 4, running, v.Theme.Calm))
	}
	return lines
}

func kvFill(c *history.Column, _ int) opt.Float  { return c.KV.Mean() }
func running(c *history.Column, _ int) opt.Float { return c.Running.Mean() }
func waiting(c *history.Column, _ int) opt.Float { return c.Waiting.Mean() }

// fill draws how full the cache is, or why that is unknown.
func (kv) fill(v *View, w, h int) []string {
	r := &v.Frame.Engine.Reading
	if !r.KVFill.OK && len(r.Notes) > 0 {
		known := func(c *history.Column) bool { return c.KV.Mean().OK }
		if !slices.ContainsFunc(v.History.Last(w), known) {
			return text.Because(v.Theme, strings.Join(r.Notes, "; "), w, h)
		}
	}
	return overTime(v, w, h, shares, percentLabel, line{v.Theme.First, 'o', kvFill, false, denseDots})
}

// reportsNothing reports whether there is no reading, or one without queue and KV cache: some
// engines only list the loaded models.
func reportsNothing(e *engine.Status) bool {
	r := &e.Reading
	return !e.Have || !r.KVFill.OK && !r.Running.OK && !r.Waiting.OK
}

func whyNoEngine(v *View) string {
	e := &v.Frame.Engine
	switch {
	case e.Why != "" && len(e.OnPage) > 1 && v.Playback == nil:
		return e.Why + ", or press m for the next model"
	case e.Why != "":
		return e.Why
	case !v.Have:
		return "waiting for data"
	case e.Have:
		return strings.Join(e.Reading.Notes, "; ")
	case e.State == engine.Connecting && v.Playback == nil:
		return e.State.String()
	}
	return "the engine's metrics have not been read yet"
}

func (k kv) Zoomed(v *View, w, h int) []string {
	if reportsNothing(&v.Frame.Engine) {
		return k.Body(v, w, h)
	}
	t, r, log := v.Theme, &v.Frame.Engine.Reading, &v.History.Engine
	val := func(name, s string) text.Figure { return text.Fig(name+" "+s, t.Plain) }
	number := func(f opt.Float) string { return units.Known(f, units.Tally) }
	lines := []string{
		text.Row(w, val(" fill", units.Percent(r.KVFill)), val("fullest rank", units.Percent(r.KVFillMax)),
			val("capacity", number(r.KVCapacityTokens)+" tok"), val("preemptions", number(r.Preemptions)),
			val("prefix hits", units.Percent(log.PrefixHits()))),
		text.Row(w, val(" running", number(r.Running)), val("waiting", number(r.Waiting)),
			val("engine out", number(log.OutPerS())+" tok/s"), val("engine in", number(log.InPerS())+" tok/s"),
			text.Fig("10 s mean", t.Dim)),
	}
	lines = append(lines, replicas(v, w, h-len(lines))...)
	for _, n := range r.Notes {
		if len(lines) < h-6 {
			lines = append(lines, t.Dim.Render(" "+text.CleanTo(n, w-1)))
		}
	}
	return append(lines, k.Body(v, w, h-len(lines))...)
}

func (kv) Explain(v *View) Explanation {
	e := &v.Frame.Engine
	source := "the engine's metrics"
	if e.Identity.MetricsURL != "" {
		source += ": " + text.Clean(e.Identity.MetricsURL)
	}
	out := Explanation{
		Title: "KV cache and queue",
		Text: []string{
			"The share of the engine's KV cache in use, as the engine reports it; the mean over ranks. Near 100 % the engine preempts: it evicts requests and computes them again later.",
			"run: requests in the batch. wait: requests that the engine has accepted but not yet scheduled.",
		},
		Source: source,
	}
	if e.Have {
		out.Now = append(ageNow(v, e.Reading.At), origins(e)...)
	}
	if of := fleetOf(v.Frame); of != "" {
		out.Now = append(out.Now, "shown "+of)
	}
	if e.Why != "" {
		out.Now = append(out.Now, "why "+text.Clean(e.Why))
	}
	return out
}

// ageNow is how old a reading is.
func ageNow(v *View, at time.Time) []string {
	age, known := v.Frame.Age(at)
	if !known {
		return []string{"age " + units.Unknown}
	}
	return []string{"age " + units.Span(age)}
}

// explained are the fields whose origin the KV panel shows, with a word for each.
var explained = []struct {
	word  string
	field engine.Field
}{
	{"fill", engine.FieldKVFill}, {"capacity", engine.FieldKVCapacity}, {"run", engine.FieldRunning}, {"wait", engine.FieldWaiting},
	{"hits", engine.FieldHitRateGauge}, {"out", engine.FieldOutputGauge}, {"in", engine.FieldInputRate},
}

// origins names where fields of the engine's reading come from, one line each:
// "run vllm:num_requests_running", with what is unusual about the figure, and with its
// age where it is older than the rest.
func origins(e *engine.Status) []string {
	var lines []string
	for _, x := range explained {
		o, known := e.Reading.Origins[x.field]
		if !known {
			continue
		}
		line := x.word + " " + text.Clean(o.Source)
		if o.Remark != "" {
			line += " (" + text.Clean(o.Remark) + ")"
		}
		if older := e.Reading.At.Sub(o.At); older >= time.Second {
			line += ", " + units.Span(older) + " older"
		}
		lines = append(lines, line)
	}
	return lines
}
