package ui

import (
	"fmt"

	"sonde/probe/measure"
)

// limitLine says whether a service level holds in the live window.
func (t *theme) limitLine(s SLOLine, win measure.Summary) string {
	text := fmt.Sprintf("%s ≤ %s", clean(s.Metric), unitFor(s.LimitMS).with(s.LimitMS))
	switch met, known := s.met(win); {
	case !known:
		return t.dim.Render(text + " ?")
	case met:
		return t.good.Render(signGood + " " + text + " met")
	}
	return t.bad.Render(signBad + " " + text + " missed")
}

// met tells whether the level holds in the live window.
func (s SLOLine) met(win measure.Summary) (met, known bool) {
	v, ok := statisticOf(s.Metric, win)
	return v <= s.LimitMS, ok && win.N > 0
}

// limitSign is the sign for the title: bad as soon as one service level is missed,
// none without a service level.
func (l *latencyPanel) limitSign(p *picture, win measure.Summary) []figure {
	var sign []figure
	for _, s := range p.limits(l.metric) {
		switch met, known := s.met(win); {
		case known && !met:
			return []figure{{signBad, l.theme.bad}}
		case known:
			sign = []figure{{signGood, l.theme.good}}
		}
	}
	return sign
}

// statisticOf finds the number that a service level such as "ttft_p95" is about.
func statisticOf(metric string, s measure.Summary) (float64, bool) {
	for _, q := range statistics {
		if n := len(metric) - len(q.name); n > 0 && metric[n-1] == '_' && metric[n:] == q.name {
			return q.of(s), true
		}
	}
	return 0, false
}
