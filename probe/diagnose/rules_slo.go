package diagnose

import (
	"fmt"
	"math"

	"sonde/probe/measure"
	"sonde/probe/slo"
)

// SLO is what the verdict goes by. Of its metrics "ttft", "tpot", "gap", "e2e" and "success"
// are judged.
type SLO = slo.Target

// sloResult is what the Frames say about one SLO.
type sloResult struct {
	slo    SLO
	missed outcome
	actual string // the figure, with its n
	need   string // what a judgement would take, if there is too little
	past   bool   // missed by failures that have ended since
}

func judgeSLOs(h *history) []sloResult {
	var out []sloResult
	for _, s := range h.slos {
		if s.Metric == "success" {
			out = append(out, judgeSuccess(h, s))
		} else if r, ok := judgeLatency(&h.now().Client, s); ok {
			out = append(out, r)
		}
	}
	return out
}

// judgeLatency goes by the live window; not ok where that lacks the quantile.
func judgeLatency(c *measure.Client, s SLO) (sloResult, bool) {
	d, ok := map[string]measure.Summary{"ttft": c.TTFT, "tpot": c.TPOT, "gap": c.Gap, "e2e": c.E2E}[s.Metric]
	if !ok {
		return sloResult{}, false
	}
	value, need, ok := quantile(d, s.Quantile)
	if !ok {
		return sloResult{}, false
	}
	r := sloResult{slo: s, actual: fmt.Sprintf("%s, n %d", millis(value), d.N)}
	switch {
	case d.N >= need:
		r.missed = found(value > s.LimitMS)
	case d.N >= enough && s.Quantile > 0.9 && d.P90 > s.LimitMS:
		// A tenth above the limit is far more than the quantile allows.
		r.missed, r.actual = holds, fmt.Sprintf("even p90 %s, n %d", millis(d.P90), d.N)
	case d.N > 0:
		r.need = fmt.Sprintf("%d of %d samples", d.N, need)
	}
	return r, true
}

// quantile gives that quantile, and how many samples it takes to mean something.
func quantile(d measure.Summary, q float64) (ms float64, need int, ok bool) {
	const rounding = 1e-9
	for _, known := range []struct {
		q, ms float64
		need  int
	}{{0.5, d.P50, enough}, {0.9, d.P90, enough}, {0.95, d.P95, enough}, {0.99, d.P99, 100}, {0.999, d.P999, 1000}} {
		if math.Abs(q-known.q) < rounding {
			return known.ms, known.need, true
		}
	}
	return 0, 0, false
}

// judgeSuccess goes by all requests since the start: a window of seconds has too
// few for the shares that are asked for.
func judgeSuccess(h *history, s SLO) sloResult {
	const certain = 3 // failures that are no chance any more
	c := &h.now().Client
	n := c.OK + c.Failed
	r := sloResult{slo: s, actual: fmt.Sprintf("%d of %d requests failed", c.Failed, n)}
	allowed := (1 - s.SuccessShare) * float64(n)
	const rounding = 1e-9
	switch {
	case c.Failed == 0:
		r.missed = absent
	case n >= enough && float64(c.Failed) <= allowed+rounding:
		r.missed = absent
	case n >= enough && (c.Failed >= certain || allowed >= 1), s.SuccessShare >= 1:
		f := countFailures(h)
		r.missed, r.past = holds, f.failed == 0
	default:
		r.need = fmt.Sprintf("%d of %d requests failed", c.Failed, n)
	}
	return r
}

// sloMissed finds service levels that are not met.
type sloMissed struct{ missed []sloResult }

func (r *sloMissed) check(h *history) outcome {
	if len(h.slos) == 0 {
		return unclear
	}
	for _, s := range judgeSLOs(h) {
		switch {
		case s.missed != holds:
		case len(r.missed) > 0 && r.missed[0].past && !s.past:
			r.missed = append([]sloResult{s}, r.missed...)
		default:
			r.missed = append(r.missed, s)
		}
	}
	return found(len(r.missed) > 0)
}

func (r *sloMissed) verdict() Verdict {
	first := &r.missed[0]
	v := Verdict{
		Severity: Bad, Text: fmt.Sprintf("SLO %s is missed: %s", first.slo.Text, first.actual),
		Advice: "lower the load, or tune for this level",
	}
	if first.slo.Metric == "success" {
		v.Advice = "look into the failures: their classes are counted"
	}
	if first.past {
		v.Severity = Warn
		v.Evidence = append(v.Evidence, fmt.Sprintf("since the start; none failed in the last %.0f s", keep.Seconds()))
	}
	for _, s := range r.missed[1:] {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%s too: %s", s.slo.Text, s.actual))
	}
	if len(v.Evidence) == 0 {
		v.Evidence = []string{"over the live window"}
		if first.slo.Metric == "success" {
			v.Evidence[0] = "since the start"
		}
	}
	return v
}

// sloUnclear finds service levels that too few samples speak of.
type sloUnclear struct{ unclear []sloResult }

func (r *sloUnclear) check(h *history) outcome {
	if len(h.slos) == 0 {
		return unclear
	}
	for _, s := range judgeSLOs(h) {
		if s.need != "" {
			r.unclear = append(r.unclear, s)
		}
	}
	return found(len(r.unclear) > 0)
}

func (r *sloUnclear) verdict() Verdict {
	v := Verdict{Severity: Info, Text: "too few samples to judge " + r.unclear[0].slo.Text}
	for _, s := range r.unclear {
		v.Evidence = append(v.Evidence, s.slo.Text+": "+s.need)
	}
	return v
}
