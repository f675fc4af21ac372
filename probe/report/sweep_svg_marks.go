package report

import (
	"math"
	"strings"
)

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
		x := p.x(l.load())
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
	p.text(x, y, "start", "○ had not settled")
}
