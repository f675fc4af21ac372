package diagnose

import (
	"fmt"
	"math"
	"slices"

	"sonde/probe/opt"
	"sonde/probe/slo"
	"sonde/probe/units"
)

// sloNow is how the newest requests compare with one SLO.
type sloNow struct {
	slo.Result
	past bool // missed because of failures that have stopped since
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
		s := sloNow{}
		switch t.Metric {
		case slo.Success:
			// All requests since the start: a window of seconds has too few for shares such
			// as 99.9 %.
			c := &h.now().Client
			n := c.OK + c.Failed
			s = sloNow{slo.Judge(t, opt.Of(float64(c.OK)/float64(n)), c.Failed, n), len(h.failures.all) == 0}
		case "gap":
			s.Result = h.judgeGaps(t)
		default:
			s.Result = h.judgeLatency(t)
		}
		out = append(out, s)
	}
	return out
}

func (h *history) judgeLatency(t slo.Target) slo.Result {
	over, actual := 0, opt.Float{}
	for _, r := range h.present.requests {
		if ms, ok := t.Value(r); ok && ms > t.LimitMS {
			over++
		}
	}
	d := distOf(h.present.requests, t.Value)
	if ms, ok := d.Quantile(t.Quantile); ok {
		actual = opt.Of(ms)
	}
	return slo.Judge(t, actual, over, d.N())
}

// judgeGaps judges every gap of the present load. The streams of a batch get their tokens
// together, so the gaps of one step are one sample.
func (h *history) judgeGaps(t slo.Target) slo.Result {
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
	return slo.Judge(t, opt.Float{}, over, n/streams)
}

// figures are what the samples show, with their number.
func (s *sloNow) figures() string {
	switch {
	case s.Target.Metric == slo.Success:
		return fmt.Sprintf("%d of %d requests failed", s.Over, s.N)
	case !s.Actual.OK || s.N < samplesFor(&s.Target):
		return fmt.Sprintf("%s of %d samples exceed it", units.Share(float64(s.Over)/float64(s.N)), s.N)
	}
	return fmt.Sprintf("%s, n %d", units.Millis(s.Actual.V), s.N)
}

// checkSLO finds SLOs that are missed, those that are still being missed first.
func checkSLO(h *history) finding {
	var missed, past []sloNow
	for _, s := range h.judged {
		switch {
		case !s.missed():
		case s.past:
			past = append(past, s)
		default:
			missed = append(missed, s)
		}
	}
	missed = append(missed, past...)
	if len(missed) == 0 {
		return decide(len(h.slos) > 0, false, finding{})
	}
	first := &missed[0]
	v := bad("SLO %s missed: %s", first.Target.Text, first.figures()).asIf(first.past, Warn)
	switch window := keep.Seconds(); {
	case first.past:
		v = v.with("all requests since the start; none failed in the last %.0f s", window)
	case first.Target.Metric == slo.Success:
		v = v.with("all requests since the start")
	default:
		v = v.with("requests at this load in the last %.0f s", window)
	}
	for _, s := range missed[1:] {
		v = v.with("also missed: %s: %s", s.Target.Text, s.figures())
	}
	if first.Target.Metric == slo.Success {
		return v.advise("check the failures by class")
	}
	return v.advise("lower the load, or tune the server")
}

// checkSLOUnclear finds SLOs for which there are too few samples.
func checkSLOUnclear(h *history) finding {
	judged := slices.DeleteFunc(slices.Clone(h.judged), func(s sloNow) bool { return !s.undecided() })
	if len(judged) == 0 {
		return decide(len(h.slos) > 0, false, finding{})
	}
	v := info("too few samples to judge %s", judged[0].Target.Text)
	for _, s := range judged {
		v = v.with("%s: %d of %d samples", s.Target.Text, s.N, samplesFor(&s.Target))
	}
	return v
}
