package ui

import (
	"fmt"
	"time"

	"sonde/probe/measure"
	"sonde/ui/chart"
)

// latencyPanel draws p50, p95 and p99 over time. TTFT and TPOT are two of them.
type latencyPanel struct {
	theme  *theme
	metric string // as service levels name it
	name   string
	window func(*measure.Client) measure.Summary
	level  func(*measure.LevelStats) measure.Summary
	engine growth            // the same, as the engine counts it
	seen   func(version) int // changes of the samples
	dot    func(*dot) triple
	foot   func(*picture) []figure
	notes  func(*picture) []figure                     // further numbers when zoomed
	below  func(p *picture, w, h int) (lines []string) // a second chart when zoomed, or nil
	about  explanation
	ranger chart.Ranger
}

// latencyKey is what the body of a latency panel depends on.
type latencyKey struct {
	columns, samples int
	unit             string
	why              string
	own              estimate
	window, level    measure.Summary // zoomed only
	settled          bool
}

func (l *latencyPanel) key(p *picture, zoomed bool) any {
	k := latencyKey{columns: p.history.version.columns, samples: l.seen(p.history.version), unit: l.unit(p).name}
	if l.empty(p) {
		k.why = whyNoSamples(p)
		k.own, _ = p.engineOwn(l.window(&p.frame.Client), l.engine)
	}
	if zoomed {
		k.window, k.level = l.window(&p.frame.Client), l.level(&p.frame.Client.Level)
		k.settled = p.frame.Load.Settled
	}
	return k
}

func (l *latencyPanel) heading(p *picture) heading {
	s := l.window(&p.frame.Client)
	t, u := l.theme, l.unit(p)
	hd := heading{name: l.name + " " + u.name, column: p.history.width}
	if own, ok := p.engineOwn(s, l.engine); ok {
		hd.figures = t.estimated(own, u)
	} else if s.N == 0 {
		hd.figures = []figure{{unknown, t.dim}}
	} else {
		hd.figures = append(l.limitSign(p, s), t.percentile("p50", s, s.P50, u, t.p50),
			t.percentile("p95", s, s.P95, u, t.p95), t.percentile("p99", s, s.P99, u, t.p99),
			figure{"n " + group(float64(s.N)), t.dim})
		hd.spare = len(hd.figures) - 2 // the p99: without n none of them means much
	}
	if l.foot != nil {
		hd.foot = l.foot(p)
	}
	return hd
}

// empty tells that there is nothing to draw, neither now nor in the past.
func (l *latencyPanel) empty(p *picture) bool {
	return l.seen(p.history.version) == 0
}

// unit is the one of title, axis and table.
func (l *latencyPanel) unit(p *picture) scaleUnit {
	s := l.window(&p.frame.Client)
	if own, ok := p.engineOwn(s, l.engine); ok {
		return unitFor(own.p50.ms)
	}
	return unitFor(s.P50)
}

// whyEmpty stands where there is nothing to draw yet; without load of our own it
// tells what the engine says.
func (l *latencyPanel) whyEmpty(p *picture, w, h int) []string {
	t := l.theme
	own, ok := p.engineOwn(l.window(&p.frame.Client), l.engine)
	if !ok {
		return t.because(whyNoSamples(p), w, h)
	}
	u := unitFor(own.p50.ms)
	lines := []string{
		t.dim.Render(" the engine's own, over 60 s:"),
		" " + t.row(w-1, t.estimated(own, u)[1:]...),
		" " + t.row(w-1, figure{u.name + ", est. from its buckets", t.dim}),
	}
	for _, s := range wrap(whyNoSamples(p), w-2) {
		lines = append(lines, t.dim.Render(" "+s))
	}
	return chart.Fit(lines, w, h)
}

func (l *latencyPanel) body(p *picture, w, h int) []string {
	if l.empty(p) {
		return l.whyEmpty(p, w, h)
	}
	label := l.unit(p).label
	shown := p.history.last(w)
	lines := latencyLines(shown, w, l.dot)
	scale := l.scale(p, lines)
	plot := chart.PlotWidth(w, label, scale, h)
	shown = p.history.last(plot)
	lines = latencyLines(shown, plot, l.dot)
	t := l.theme
	return chart.Lines(w, h, chart.LineOptions{
		Scale: scale, Label: label, LabelStyle: t.border,
		Marks: marks(shown, plot), MarkStyle: t.mark, Rules: l.rules(p), ASCII: t.ascii,
	}, chart.Series{Style: t.p99, Mark: '9', Y: lines[2]},
		chart.Series{Style: t.p95, Mark: '+', Y: lines[1]},
		chart.Series{Style: t.p50, Mark: 'o', Y: lines[0]})
}

// scale follows the data, and a service level as long as it is near the data:
// a limit far above would press the lines to the ground.
func (l *latencyPanel) scale(p *picture, lines [3][]float64) chart.Scale {
	var limits []float64
	for _, s := range p.limits(l.metric) {
		if s.LimitMS < 3*largest(lines[2]) {
			limits = append(limits, s.LimitMS)
		}
	}
	return l.ranger.Scale(lines[0], lines[1], lines[2], limits)
}

func (l *latencyPanel) rules(p *picture) []chart.Rule {
	var rules []chart.Rule
	for _, s := range p.limits(l.metric) {
		rules = append(rules, chart.Rule{Y: s.LimitMS, Style: l.theme.limit})
	}
	return rules
}

// tableWidth is the room for the table of a zoomed panel.
const tableWidth = 34

// zoomed puts a table of all numbers beside the chart.
func (l *latencyPanel) zoomed(p *picture, w, h int) []string {
	if w < 2*tableWidth {
		return l.body(p, w, h)
	}
	upper := h
	var lower []string
	if l.below != nil && h >= 16 {
		upper = h * 6 / 10
		lower = l.below(p, w-tableWidth, h-upper)
	}
	charts := append(l.body(p, w-tableWidth, upper), lower...)
	return beside(l.table(p), tableWidth, charts, w-tableWidth, h)
}

// table lists every statistic of the live window and of the present level.
func (l *latencyPanel) table(p *picture) []string {
	f, t := p.frame, l.theme
	win, lev := l.window(&f.Client), l.level(&f.Client.Level)
	u := l.unit(p)
	lines := []string{t.dim.Render(fmt.Sprintf(" %-7s %10s %10s", u.name, spanWindow(f.Client.Window), "level "+group(float64(f.Load.Level))))}
	for _, q := range statistics {
		a, b := t.cell(q.name, win, q.of(win), u, false), t.cell(q.name, lev, q.of(lev), u, !f.Load.Settled)
		lines = append(lines, t.dim.Render(fmt.Sprintf(" %-7s ", q.label))+a+" "+b)
	}
	lines = append(lines, t.dim.Render(" n       ")+fmt.Sprintf("%10s %10s", group(float64(win.N)), group(float64(lev.N))), "")
	for _, s := range p.limits(l.metric) {
		lines = append(lines, " "+t.limitLine(s, win))
	}
	if l.notes != nil {
		for _, n := range l.notes(p) {
			lines = append(lines, " "+t.row(tableWidth-2, n))
		}
	}
	return lines
}

// statistics of a Summary, in the order of the table.
var statistics = []struct {
	name, label string
	of          func(measure.Summary) float64
}{
	{"p50", "p50", func(s measure.Summary) float64 { return s.P50 }},
	{"p90", "p90", func(s measure.Summary) float64 { return s.P90 }},
	{"p95", "p95", func(s measure.Summary) float64 { return s.P95 }},
	{"p99", "p99", func(s measure.Summary) float64 { return s.P99 }},
	{"p999", "p99.9", func(s measure.Summary) float64 { return s.P999 }},
	{"mean", "mean", func(s measure.Summary) float64 { return s.Mean }},
	{"min", "min", func(s measure.Summary) float64 { return s.Min }},
	{"max", "max", func(s measure.Summary) float64 { return s.Max }},
}

// cell is a number of the table, dim when it is weak or not settled.
func (t *theme) cell(name string, s measure.Summary, v float64, u scaleUnit, dim bool) string {
	text := unknown
	if s.N > 0 {
		text = u.of(v)
	}
	text = right(text, 10)
	if dim || s.N == 0 || weak(s, name) {
		return t.dim.Render(text)
	}
	return text
}

// whyNoSamples says what is missing until the first latency can be shown.
func whyNoSamples(p *picture) string {
	c := &p.frame.Client
	switch {
	case !p.have:
		return "waiting for the first Frame"
	case c.Failed > 0 && c.OK == 0 && c.LastError != "":
		return "no request has succeeded: " + c.LastError
	case c.Failed > 0 && c.OK == 0:
		return "no request has succeeded"
	case c.OK == 0 && c.ByClass[classLoading] > 0:
		return "the server refuses requests while it loads its model"
	case c.InFlight > 0:
		return "waiting for the first answer"
	case p.beforeLoad():
		return stageText(p.frame.Load.Stage)
	case p.wish.Concurrency == 0:
		return "no load: ↑ sends the first stream"
	}
	return "nothing to measure yet"
}

func spanWindow(d time.Duration) string {
	if d <= 0 {
		return "window"
	}
	return fmt.Sprintf("last %d s", int(d.Seconds()))
}

func largest(ys []float64) float64 {
	most := 0.0
	for _, y := range ys {
		if y > most { // NaN compares false
			most = y
		}
	}
	return most
}

// beside puts two blocks next to each other.
func beside(left []string, lw int, right []string, rw, h int) []string {
	l, r := chart.Fit(left, lw, h), chart.Fit(right, rw, h)
	for i := range l {
		l[i] += r[i]
	}
	return l
}

func (l *latencyPanel) explain(p *picture) explanation {
	e, s := l.about, l.window(&p.frame.Client)
	e.now = append(windowNow(p, s.N), "weak a percentile is dim while fewer than 10 (p90, p95), 100 (p99) or 1 000 (p99.9) samples stand behind it")
	return e
}
