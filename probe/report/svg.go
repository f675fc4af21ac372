package report

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/report/page"
)

// The picture of the curve: two plots over one axis of loads, in pixels. It brings its own
// white paper, so that it reads the same on a dark page.
const (
	svgWidth, svgHeight = 760, 560
	svgLeft, svgRight   = 84, 740
	svgTop, svgBottom   = 84, 480
	svgMiddle           = (svgTop + svgBottom) / 2
	svgGap              = 44 // between the plots
	svgInset            = 20 // of the first and the last point
	svgHeadroom         = 1.08
)

// Colours that people with any colour vision tell apart (Okabe and Ito).
const (
	svgRate  = "#0072b2"
	svgTTFT  = "#d55e00"
	svgLimit = "#a03f78"
	svgInk   = "#333333"
	svgFaint = "#dddddd"
)

// svgSeries is one of the two plots.
type svgSeries struct {
	top, bottom float64
	title       string // of the axis, with its unit
	colour      string
	value       func(*Level) opt.Float
	spread      func(*Level) (low, high opt.Float)
	limits      []float64
	most        float64 // highest value on the axis; 0 if there is none
}

// SVG is a picture of throughput and TTFT p95 against the load: a point for each level with
// its spread, the SLOs on TTFT as lines, the knee, and the largest load within the SLOs.
func (s *SweepSummary) SVG() string {
	p := svgCurve{s: s}
	fmt.Fprintf(&p.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12" fill="%s">`+"\n", svgWidth, svgHeight, svgInk)
	p.out.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	p.text(svgLeft, 20, "start", word(s.Target.Model)+" · "+s.Target.engine()+" · "+s.shape())
	for _, plot := range s.svgPlots() {
		p.plot(&plot)
	}
	p.marks()
	p.legend()
	p.out.WriteString("</svg>\n")
	return p.out.String()
}

// svgPlots are throughput above and TTFT below, each with the range of its axis.
func (s *SweepSummary) svgPlots() []svgSeries {
	plots := []svgSeries{
		{
			top: svgTop, bottom: svgMiddle - svgGap/2, title: "output tokens/s", colour: svgRate,
			value:  throughputOf,
			spread: func(l *Level) (low, high opt.Float) { return l.SlowestPerS, l.FastestPerS },
		},
		{
			top: svgMiddle + svgGap/2, bottom: svgBottom, title: "TTFT p95, ms", colour: svgTTFT, limits: s.ttftLimits(),
			value:  ttftOf,
			spread: func(l *Level) (low, high opt.Float) { return l.LatencyMS.TTFT.P50, l.LatencyMS.TTFT.P99 },
		},
	}
	for i := range plots {
		plot := &plots[i]
		for j := range s.Levels {
			_, high := plot.spread(&s.Levels[j])
			plot.most = max(plot.most, plot.value(&s.Levels[j]).Or(0), high.Or(0))
		}
		for _, limit := range plot.limits {
			if limit <= 3*plot.most { // one far above would flatten the curve
				plot.most = max(plot.most, limit)
			}
		}
	}
	return plots
}

// y places a value on the axis, which is linear from 0.
func (s *svgSeries) y(v float64) float64 {
	return s.bottom - (s.bottom-s.top)*v/(svgHeadroom*s.most)
}

// ttftLimits are the SLOs on a quantile of TTFT, in milliseconds.
func (s *SweepSummary) ttftLimits() []float64 {
	var out []float64
	if len(s.Levels) > 0 {
		for _, r := range s.Levels[0].SLO {
			if r.Metric == "ttft" && r.Limit.OK {
				out = append(out, r.Limit.V)
			}
		}
	}
	return out
}

type svgCurve struct {
	s   *SweepSummary
	out strings.Builder
}

func (p *svgCurve) text(x, y float64, anchor, text string) {
	fmt.Fprintf(&p.out, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(page.Plain(text)))
}

func (p *svgCurve) line(x1, y1, x2, y2 float64, colour, dashes string) {
	fmt.Fprintf(&p.out, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-dasharray="%s"/>`+"\n", x1, y1, x2, y2, colour, dashes)
}

func (p *svgCurve) point(x, y float64, colour string, settled bool) {
	fill := colour
	if !settled {
		fill = "white"
	}
	fmt.Fprintf(&p.out, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s" stroke="%s"/>`+"\n", x, y, fill, colour)
}

// bar is a spread, with a cap at each end.
func (p *svgCurve) bar(x, low, high float64, colour string) {
	p.line(x, low, x, high, colour, "")
	p.line(x-3, low, x+3, low, colour, "")
	p.line(x-3, high, x+3, high, colour, "")
}

// x places a load on the axis, which is logarithmic: ladders double.
func (p *svgCurve) x(load float64) float64 {
	first, last := p.s.Levels[0].Load.amount(), p.s.Levels[len(p.s.Levels)-1].Load.amount()
	if last <= first {
		return (svgLeft + svgRight) / 2
	}
	return svgLeft + svgInset + (svgRight-svgLeft-2*svgInset)*math.Log(load/first)/math.Log(last/first)
}

// plot draws one figure of all levels.
func (p *svgCurve) plot(s *svgSeries) {
	p.text(svgLeft, s.top-8, "start", s.title)
	p.line(svgLeft, s.bottom, svgRight, s.bottom, svgInk, "")
	if s.most <= 0 {
		p.text(svgLeft+8, (s.top+s.bottom)/2, "start", "no level reports this")
		return
	}
	step := tickStep(s.most / 4)
	for v := 0.0; v <= svgHeadroom*s.most; v += step {
		p.text(svgLeft-8, s.y(v)+4, "end", strconv.FormatFloat(v, 'g', 6, 64))
		p.line(svgLeft-4, s.y(v), svgLeft, s.y(v), svgInk, "")
		if v > 0 {
			p.line(svgLeft, s.y(v), svgRight, s.y(v), svgFaint, "")
		}
	}
	for _, limit := range s.limits {
		label := "SLO " + figure(opt.Of(limit)) + " ms"
		if limit > s.most {
			p.text(svgRight, s.top-8, "end", label+" is above the chart")
			continue
		}
		p.line(svgLeft, s.y(limit), svgRight, s.y(limit), svgLimit, "6 4")
		p.text(svgLeft+4, s.y(limit)-4, "start", label)
	}
	p.points(s)
}

// tickStep is the next larger of 1, 2 or 5 times a power of ten.
func tickStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, times := range []float64{1, 2, 5} {
		if times*power >= least {
			return times * power
		}
	}
	return 10 * power
}

// points draws the levels; one that had not settled is hollow. The curve is under them.
func (p *svgCurve) points(s *svgSeries) {
	var path []string
	for i := range p.s.Levels {
		if v := s.value(&p.s.Levels[i]); v.OK {
			path = append(path, fmt.Sprintf("%.1f,%.1f", p.x(p.s.Levels[i].Load.amount()), s.y(v.V)))
		}
	}
	fmt.Fprintf(&p.out, `<polyline points="%s" fill="none" stroke="%s"/>`+"\n", strings.Join(path, " "), s.colour)
	for i := range p.s.Levels {
		l := &p.s.Levels[i]
		v := s.value(l)
		if !v.OK {
			continue
		}
		x := p.x(l.Load.amount())
		if low, high := s.spread(l); low.OK && high.OK {
			p.bar(x, s.y(low.V), s.y(high.V), s.colour)
		}
		p.point(x, s.y(v.V), s.colour, l.Settled)
	}
}

// mark draws a line through both plots, with its names on the side where there is room.
func (p *svgCurve) mark(x float64, names []string) {
	shift, anchor, y := 5.0, "start", svgTop-24.0
	if x > (svgLeft+svgRight)/2 {
		shift, anchor = -5, "end"
	}
	if names[0] == "best" { // above the knee's, which may be near
		names[0], y = "largest within SLO", svgTop-38
	}
	p.line(x, y-8, x, svgBottom, svgInk, "2 3")
	p.text(x+shift, y, anchor, strings.Join(names, ", "))
}

// marks draws what goes through both plots: the loads, the knee, the boundary.
func (p *svgCurve) marks() {
	unit := "streams in flight (logarithmic)"
	if p.s.Load.Rate.OK {
		unit = "requests per second (logarithmic)"
	}
	p.text((svgLeft+svgRight)/2, svgBottom+38, "middle", unit)
	lastX := math.Inf(-1)
	for i := range p.s.Levels {
		l := &p.s.Levels[i]
		x := p.x(l.Load.amount())
		if x-lastX > 26 { // room for a number
			p.text(x, svgBottom+18, "middle", l.amount())
			lastX = x
		}
		if names := p.s.marks(l); len(names) > 0 {
			p.mark(x, names)
		}
	}
}

// legend says what is drawn.
func (p *svgCurve) legend() {
	y := float64(svgBottom + 64)
	x := float64(svgLeft)
	entry := func(colour, dashes, text string, width float64) {
		p.line(x, y-4, x+16, y-4, colour, dashes)
		p.text(x+22, y, "start", text)
		x += width
	}
	entry(svgRate, "", "throughput; bar: slowest and fastest 2 s", 270)
	entry(svgTTFT, "", "TTFT p95; bar: p50 to p99", 186)
	if len(p.s.ttftLimits()) > 0 {
		entry(svgLimit, "6 4", "SLO", 60)
	}
	p.text(x, y, "start", "○ not settled")
}
