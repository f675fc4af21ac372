package canary

import (
	"fmt"
	"slices"
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
	"sonde/probe/units"
)

// What slow is: the median of a few probes in a row against the others of the last hour. A
// stretch that was slow is not what is usual. When too few others are left within the hour,
// the service has become that slow, and is compared with itself from then on.
const (
	slowProbes  = 5   // in a row, whose median counts
	usualFewest = 20  // probes to compare with
	slowFrom    = 2.0 // times the usual median, where slowness begins
	slowUntil   = 1.5 // times it, where it ends

	atOnceFewest = 4 // chunks that can show that tokens come together
)

// RuleSlow is the rule on a target that is slower than it was itself.
const RuleSlow diagnose.Rule = "slow"

// slowFigures are the latencies that are compared. A difference below the floor, in ms, is
// felt by nobody, however many times the usual it is.
var slowFigures = []struct {
	name  string
	of    func(*sample) opt.Float
	floor float64
}{
	{"TTFT", ttftOf, 50},
	{"TPOT", tpotOf, 5},
}

// slowness is a latency that is longer than usual.
type slowness struct {
	name  string
	now   float64 // ms, median
	usual measure.Summary

	atOnce bool // most tokens of the newest probes arrived together
}

// findSlowness compares the newest probes with what is usual.
func (h *history) findSlowness() {
	first := len(h.samples) - slowProbes
	if first < 0 || failed(h.samples[first:]) > 0 {
		return // failures have their own rules; what was slow stays so until probes succeed again
	}
	newest, before := h.samples[first:], h.usualSamples(first)
	was := h.slow
	h.slow = nil
	for _, f := range slowFigures {
		recent, usual := distOf(newest, f.of), distOf(before, f.of).Summary()
		now, ok := recent.Quantile(0.5)
		if !ok || usual.N < usualFewest {
			continue
		}
		times := slowFrom
		if was != nil && was.name == f.name {
			times = slowUntil
		}
		if now > times*usual.P50 && now-usual.P50 > f.floor && (was != nil || now > usual.P95) {
			h.slow = &slowness{name: f.name, now: now, usual: usual, atOnce: !slices.ContainsFunc(newest[slowProbes/2:], func(s sample) bool { return !s.atOnce })}
			break
		}
	}
	if h.slow == nil {
		return
	}
	for i := range newest {
		newest[i].slow = true
	}
}

// usualSamples are the samples before one that show what is usual.
func (h *history) usualSamples(end int) []sample {
	var usual []sample
	for _, s := range h.samples[:end] {
		if s.ok() && !s.slow {
			usual = append(usual, s)
		}
	}
	return usual
}

func checkSlow(h *history, _ time.Time) (State, diagnose.Verdict, bool) {
	if h.slow == nil {
		return 0, diagnose.Verdict{}, false
	}
	s := h.slow
	v := diagnose.Verdict{
		Rule: RuleSlow, Severity: diagnose.Warn,
		Text: fmt.Sprintf("%s %s, usually %s", s.name, units.Millis(s.now), units.Millis(s.usual.P50)),
		Evidence: []string{
			fmt.Sprintf("median of the last %d probes", slowProbes),
			fmt.Sprintf("usual: p50 %s, p95 %s, n %d, in the last hour", units.Millis(s.usual.P50), units.Millis(s.usual.P95), s.usual.N),
		},
		Advice: "look at the engine's queue, KV cache and GPU: sonde URL --watch",
	}
	if s.atOnce {
		v.Evidence = append(v.Evidence, "most tokens arrive at once")
		v.Advice = "look for a proxy that buffers responses"
	}
	return Slow, v, true
}

// SLOs are judged over the newest probes of a while.
const (
	sloSpan   = 15 * time.Minute
	sloFewest = 5 // probes
)

// checkSLO finds an SLO that the newest probes miss.
func checkSLO(h *history, now time.Time) (State, diagnose.Verdict, bool) {
	list := h.last(len(h.samples), now, sloSpan)
	if len(list) < sloFewest {
		return 0, diagnose.Verdict{}, false
	}
	var worst slo.Result
	for i, t := range h.slos {
		if r := judgeSLO(t, i, list); r.Verdict != slo.NotJudged && !r.Verdict.Met() && (worst.Verdict == slo.NotJudged || r.Verdict < worst.Verdict) {
			worst = r
		}
	}
	if worst.Verdict == slo.NotJudged {
		return 0, diagnose.Verdict{}, false
	}
	state, actual := Slow, units.Known(worst.Actual, units.Millis)
	if worst.Target.Metric == slo.Success {
		state, actual = Failing, units.Known(worst.Actual, units.Percent3)
	}
	v := diagnose.Verdict{
		Rule: diagnose.RuleSLO, Severity: diagnose.Warn,
		Text:     fmt.Sprintf("SLO %s missed: %s", worst.Target.Text, actual),
		Evidence: []string{fmt.Sprintf("%d of %s beyond it in the last %s", worst.Over, units.Count(worst.N, "probe"), units.Span(min(sloSpan, now.Sub(list[0].at)+time.Second)))},
		Advice:   "look at the engine's queue, KV cache and GPU: sonde URL --watch",
	}
	if worst.Verdict == slo.Fails {
		v.Severity = diagnose.Bad
		v.Evidence = append(v.Evidence, "confidence "+units.Known(worst.Confidence, units.Percent3))
	}
	return state, v, true
}

// judgeSLO judges the i-th target by samples.
func judgeSLO(t slo.Target, i int, list []sample) slo.Result {
	if t.Metric == slo.Success {
		n := len(list)
		over := failed(list)
		return slo.Judge(t, opt.Of(float64(n-over)/float64(n)), over, n)
	}
	d, over := measure.NewDist(len(list)), 0
	for _, s := range list {
		if i >= len(s.slos) || !s.slos[i].OK {
			continue
		}
		d.Add(s.slos[i].V)
		if s.slos[i].V > t.LimitMS {
			over++
		}
	}
	actual, ok := d.Quantile(t.Quantile)
	return slo.Judge(t, known(actual, ok), over, d.N())
}
