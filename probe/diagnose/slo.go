package diagnose

import (
	"fmt"
	"math"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
	"sonde/probe/units"
)

// sloNow is how the newest requests stand to one SLO.
type sloNow struct {
	slo.Result
	past bool // missed by failures that have ended since
}

// missed reports whether the SLO is missed: by samples enough for its quantile to mean
// something, or by so many beyond the limit that fewer suffice.
func (s *sloNow) missed() bool {
	return s.Verdict == slo.Fails || s.Verdict == slo.SeemsFails && s.N >= samplesFor(&s.Target)
}

// undecided reports whether there are samples, and too few to say more.
func (s *sloNow) undecided() bool {
	return s.N > 0 && !s.missed() && s.N < samplesFor(&s.Target) && (s.Target.Metric != slo.Success || s.Over > 0)
}

// samplesFor is how many samples it takes until a quantile is more than the extreme
// one of them.
func samplesFor(t *slo.Target) int {
	const rounding = 1e-9
	if t.Share() >= 1 {
		return enough
	}
	return max(enough, int(math.Ceil(1/(1-t.Share())-rounding)))
}

// judgeSLOs judges the requests of the present load by each SLO.
func (h *history) judgeSLOs() []sloNow {
	var out []sloNow
	for _, t := range h.slos {
		switch t.Metric {
		case slo.Success:
			out = append(out, h.judgeSuccess(t))
		case "gap":
			out = append(out, h.judgeGaps(t))
		default:
			out = append(out, h.judgeLatency(t))
		}
	}
	return out
}

func (h *history) judgeLatency(t slo.Target) sloNow {
	d, over := measure.NewDist(exactSamples), 0
	for _, r := range h.atLoad().requests {
		ms, ok := t.Value(r)
		if !ok {
			continue
		}
		d.Add(ms)
		if ms > t.LimitMS {
			over++
		}
	}
	return sloNow{Result: slo.Judge(t, quantileOf(d, t.Quantile), over, d.N())}
}

// judgeGaps goes by every gap of the present load. The streams of a batch get their
// tokens together: those of one step are one sample.
func (h *history) judgeGaps(t slo.Target) sloNow {
	n, over, streams := 0, 0, 1
	for _, f := range h.ofLoad() {
		streams = max(streams, f.Client.InFlight)
		for ms, many := range f.Client.EachSliceGap() {
			n += many
			if ms > t.LimitMS {
				over += many
			}
		}
	}
	over = int(math.Ceil(float64(over) / float64(streams)))
	return sloNow{Result: slo.Judge(t, opt.Float{}, over, n/streams)}
}

// judgeSuccess goes by all requests since the start: a window of seconds has too
// few for the shares that are asked for.
func (h *history) judgeSuccess(t slo.Target) sloNow {
	c := &h.now().Client
	n := c.OK + c.Failed
	actual := opt.Of(float64(c.OK) / float64(n))
	return sloNow{Result: slo.Judge(t, actual, c.Failed, n), past: countFailures(h).failed == 0}
}

func quantileOf(d *measure.Dist, q float64) opt.Float {
	if ms, ok := d.Quantile(q); ok {
		return opt.Of(ms)
	}
	return opt.Float{}
}

// figures are what the samples show, with their number.
func (s *sloNow) figures() string {
	switch {
	case s.Target.Metric == slo.Success:
		return fmt.Sprintf("%d of %d requests failed", s.Over, s.N)
	case !s.Actual.OK || s.N < samplesFor(&s.Target):
		return fmt.Sprintf("%s of %d samples are above", units.Share(float64(s.Over)/float64(s.N)), s.N)
	}
	return fmt.Sprintf("%s, n %d", units.Millis(s.Actual.V), s.N)
}

// checkSLO finds service levels that are missed.
func checkSLO(h *history) (outcome, Verdict) {
	var missed []sloNow
	for _, s := range h.judgeSLOs() {
		switch {
		case !s.missed():
		case len(missed) > 0 && missed[0].past && !s.past:
			missed = append([]sloNow{s}, missed...)
		default:
			missed = append(missed, s)
		}
	}
	if len(h.slos) == 0 {
		return unclear, Verdict{}
	}
	return when(len(missed) > 0, func() Verdict { return sloMissed(missed) })
}

func sloMissed(missed []sloNow) Verdict {
	first := &missed[0]
	v := Verdict{
		Severity: Bad, Text: fmt.Sprintf("SLO %s missed: %s", first.Target.Text, first.figures()),
		Advice: "lower the load, or tune the server for it",
	}
	over := fmt.Sprintf("requests of this load in the last %.0f s", keep.Seconds())
	if first.Target.Metric == slo.Success {
		v.Advice, over = "look at the failures by class", "all requests since the start"
		if first.past {
			v.Severity = Warn
			over += fmt.Sprintf("; none failed in the last %.0f s", keep.Seconds())
		}
	}
	v.Evidence = []string{over}
	for _, s := range missed[1:] {
		v.Evidence = append(v.Evidence, fmt.Sprintf("also missed: %s: %s", s.Target.Text, s.figures()))
	}
	return v
}

// checkSLOUnclear finds service levels that too few samples speak of.
func checkSLOUnclear(h *history) (outcome, Verdict) {
	if len(h.slos) == 0 {
		return unclear, Verdict{}
	}
	v := Verdict{Severity: Info}
	for _, s := range h.judgeSLOs() {
		if !s.undecided() {
			continue
		}
		if v.Text == "" {
			v.Text = "too few samples to judge " + s.Target.Text
		}
		v.Evidence = append(v.Evidence, fmt.Sprintf("%s: %d of %d samples", s.Target.Text, s.N, samplesFor(&s.Target)))
	}
	return when(v.Text != "", func() Verdict { return v })
}
