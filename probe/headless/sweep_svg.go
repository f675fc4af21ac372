package headless

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"sonde/probe/opt"
)

// The picture of the curve: two plots over one axis of loads, in pixels.
const (
	svgWidth, svgHeight = 760, 520
	svgLeft, svgRight   = 70, 740
	svgTop, svgBottom   = 60, 470
	svgGap              = 40 // between the plots
)

// Colours that people with any colour vision tell apart (Okabe and Ito).
const (
	svgRate  = "#0072b2"
	svgTTFT  = "#d55e00"
	svgLimit = "#cc79a7"
	svgInk   = "#333333"
)

// WriteSVG draws throughput and TTFT p95 against the load: a point for each level with the
// spread of its throughput, the service levels on TTFT as lines, the knee, and the largest
// load within the service levels.
func (s SweepSummary) WriteSVG(w io.Writer) error {
	p := svgCurve{s: &s}
	fmt.Fprintf(&p.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12" fill="%s">`+"\n", svgWidth, svgHeight, svgInk)
	p.out.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	p.text(svgLeft, 16, "start", word(s.Target.Model)+" · "+word(s.Target.Engine)+" · "+s.shape())
	middle := (svgTop + svgBottom) / 2.0
	p.plot(svgTop, middle-svgGap/2, "output tokens/s", svgRate, func(l *Level) opt.Float { return l.Rates.OutputPerS },
		func(l *Level) (low, high opt.Float) { return l.SlowestPerS, l.FastestPerS }, nil)
	p.plot(middle+svgGap/2, svgBottom, "TTFT p95, ms", svgTTFT, func(l *Level) opt.Float { return l.LatencyMS.TTFT.P95 },
		func(*Level) (low, high opt.Float) { return low, high }, s.ttftLimits())
	p.marks()
	p.out.WriteString("</svg>\n")
	_, err := io.WriteString(w, p.out.String())
	return err
}

// ttftLimits are the service levels on a quantile of TTFT, in milliseconds.
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
	fmt.Fprintf(&p.out, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(plain(text)))
}

func (p *svgCurve) line(x1, y1, x2, y2 float64, colour, dashes string) {
	fmt.Fprintf(&p.out, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-dasharray="%s"/>`+"\n", x1, y1, x2, y2, colour, dashes)
}

// load is how much load a level is of.
func (l *Level) load() float64 {
	if l.Load.Rate.OK {
		return l.Load.Rate.V
	}
	return float64(l.Load.Concurrency)
}

// x places a load on the axis, which is logarithmic: ladders double.
func (p *svgCurve) x(load float64) float64 {
	first, last := p.s.Levels[0].load(), p.s.Levels[len(p.s.Levels)-1].load()
	if last <= first {
		return (svgLeft + svgRight) / 2
	}
	return svgLeft + 20 + (svgRight-svgLeft-40)*math.Log(load/first)/math.Log(last/first)
}

// plot draws one figure of all levels between two heights.
func (p *svgCurve) plot(top, bottom float64, title, colour string, of func(*Level) opt.Float, spread func(*Level) (low, high opt.Float), limits []float64) {
	most := p.s.most(of)
	for i := range p.s.Levels {
		_, high := spread(&p.s.Levels[i])
		most = max(most, high.Or(0))
	}
	if most <= 0 {
		return
	}
	y := func(v float64) float64 { return bottom - (bottom-top)*v/(1.08*most) }
	p.text(svgLeft, top-8, "start", title)
	p.line(svgLeft, bottom, svgRight, bottom, svgInk, "")
	for i := range 3 {
		v := most * float64(i) / 2
		p.text(svgLeft-8, y(v)+4, "end", figure(opt.Of(v)))
		p.line(svgLeft-4, y(v), svgLeft, y(v), svgInk, "")
	}
	for _, limit := range limits {
		if limit <= 1.08*most {
			p.line(svgLeft, y(limit), svgRight, y(limit), svgLimit, "6 4")
			p.text(svgLeft+4, y(limit)-4, "start", "SLO "+figure(opt.Of(limit))+" ms")
		}
	}
	p.points(y, colour, of, spread)
}

// points draws the levels; one that had not settled is hollow.
func (p *svgCurve) points(y func(float64) float64, colour string, of func(*Level) opt.Float, spread func(*Level) (low, high opt.Float)) {
	var path []string
	for i := range p.s.Levels {
		l := &p.s.Levels[i]
		v := of(l)
		if !v.OK {
			continue
		}
		x, fill := p.x(l.load()), colour
		if !l.Settled {
			fill = "white"
		}
		if low, high := spread(l); low.OK && high.OK {
			p.line(x, y(low.V), x, y(high.V), colour, "")
		}
		fmt.Fprintf(&p.out, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s" stroke="%s"/>`+"\n", x, y(v.V), fill, colour)
		path = append(path, fmt.Sprintf("%.1f,%.1f", x, y(v.V)))
	}
	fmt.Fprintf(&p.out, `<polyline points="%s" fill="none" stroke="%s"/>`+"\n", strings.Join(path, " "), colour)
}

// mark draws a line through both plots, with its names on the side where there is room.
func (p *svgCurve) mark(x float64, names []string) {
	p.line(x, svgTop-14, x, svgBottom, svgInk, "2 3")
	shift, anchor, y := 5.0, "start", svgTop-6.0
	if x > (svgLeft+svgRight)/2 {
		shift, anchor = -5, "end"
	}
	if names[0] == "best" { // above the knee's, which may be near
		names[0], y = "largest within SLO", svgTop-20
	}
	p.text(x+shift, y, anchor, strings.Join(names, ", "))
}

// marks draws what goes through both plots: the loads, the knee, the boundary.
func (p *svgCurve) marks() {
	if len(p.s.Levels) == 0 {
		p.text(svgLeft, svgTop, "start", "no request ended at any level")
		return
	}
	lastX := math.Inf(-1)
	for i := range p.s.Levels {
		l := &p.s.Levels[i]
		x := p.x(l.load())
		if x-lastX > 26 { // room for a number
			p.text(x, svgBottom+18, "middle", l.amount())
			lastX = x
		}
		if names := p.s.marks(l); len(names) > 0 {
			p.mark(x, names)
		}
	}
	unit := "streams in flight"
	if p.s.Load.Rate.OK {
		unit = "requests per second"
	}
	p.text((svgLeft+svgRight)/2, svgBottom+38, "middle", unit)
}
