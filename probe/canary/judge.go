package canary

import (
	"fmt"
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// When probes that fail make a target failing or down.
const (
	downFrom      = confirmations    // failures in a row
	failingLooks  = 20               // probes back
	failingWithin = 10 * time.Minute // and no further
	failingFewest = 2                // runs of failures among them, where the newest one succeeded
	failingShare  = 0.1              // of them
	failingBad    = 0.5              // of them, from which on it is bad
)

// Rules beyond those that single requests share with a whole load.
const (
	RuleTruncated     diagnose.Rule = "truncated"
	RuleModelNotFound diagnose.Rule = "model_not_found"
)

// rules are asked in this order; the first one that holds says how the target fares.
var rules = []func(h *history, now time.Time) (State, diagnose.Verdict, bool){
	checkLoading, checkAllFail, checkSomeFail, checkSLO, checkSlow,
}

var noData = diagnose.Verdict{Rule: diagnose.RuleNoData, Text: "no probe has ended yet"}

// judge says how the target fares, and why.
func (h *history) judge(now time.Time) (State, diagnose.Verdict) {
	if len(h.samples) == 0 {
		return Unknown, noData
	}
	for _, rule := range rules {
		if state, verdict, holds := rule(h, now); holds {
			return state, verdict
		}
	}
	return OK, h.healthy()
}

func (h *history) healthy() diagnose.Verdict {
	n, failures, _ := h.counts()
	s := h.summaries()
	v := diagnose.Verdict{Rule: diagnose.RuleHealthy, Severity: diagnose.Healthy, Text: "healthy"}
	if s.TTFT.N > 0 {
		v.Text += ": TTFT p50 " + units.Millis(s.TTFT.P50)
	}
	if s.TPOT.N > 0 {
		v.Text += ", TPOT p50 " + units.Millis(s.TPOT.P50)
	}
	v.Evidence = []string{fmt.Sprintf("%s in the last hour, %d of them failed", units.Count(n, "probe"), failures)}
	return v
}

// checkLoading finds a server whose model is not ready.
func checkLoading(h *history, now time.Time) (State, diagnose.Verdict, bool) {
	n, since := h.failedRun()
	if n == 0 || h.failure.Class != measure.Loading {
		return 0, diagnose.Verdict{}, false
	}
	v := diagnose.Verdict{
		Rule: diagnose.RuleLoading, Severity: diagnose.Info,
		Text: "the server is still loading its model", Advice: "wait: the next success ends this",
		Evidence: []string{fmt.Sprintf("no success for %s: %s", units.Span(now.Sub(since).Round(time.Second)), units.Count(n, "probe"))},
	}
	if h.worked {
		v.Severity, v.Text = diagnose.Warn, "the server is loading its model again"
		v.Advice = "find out why it restarted: check the engine's log, and the memory of its host and GPU"
	}
	return Down, v, true
}

// checkAllFail finds a target where nothing works any more.
func checkAllFail(h *history, now time.Time) (State, diagnose.Verdict, bool) {
	n, since := h.failedRun()
	if n < downFrom {
		return 0, diagnose.Verdict{}, false
	}
	words := "every probe fails: "
	if h.worked {
		words = fmt.Sprintf("every probe in the last %s has failed: ", units.Span(now.Sub(since).Round(time.Second)))
	}
	v := h.failureVerdict(diagnose.RuleAllFail, diagnose.Bad, words)
	v.Evidence = []string{units.Count(n, "failure") + " in a row"}
	if v.Rule == diagnose.RuleRateLimits { // the server is there
		v.Severity = diagnose.Warn
		return Failing, v, true
	}
	return Down, v, true
}

// checkSomeFail finds a target where probes fail now and then, or have only just stopped failing.
// One outage that is over is not held against it for longer.
func checkSomeFail(h *history, now time.Time) (State, diagnose.Verdict, bool) {
	f := failuresOf(h.last(failingLooks, now, failingWithin))
	share := float64(f.n) / float64(max(1, f.of))
	var words string
	switch {
	case f.n == 0:
		return 0, diagnose.Verdict{}, false
	case f.of < 2:
		words = "the probe failed: "
	case f.okSince == 0, f.runs >= failingFewest && share >= failingShare:
		words = fmt.Sprintf("%d of the last %d probes failed: ", f.n, f.of)
	case f.longest >= downFrom && f.okSince < confirmations:
		words = fmt.Sprintf("it answers again, after %d failures in a row: ", f.longest)
	default:
		return 0, diagnose.Verdict{}, false
	}
	v := h.failureVerdict(diagnose.RuleSomeFail, diagnose.Warn, words)
	if f.of >= downFrom && f.okSince == 0 && share >= failingBad && v.Rule != diagnose.RuleRateLimits {
		v.Severity = diagnose.Bad
	}
	return Failing, v, true
}

// failures are those among some probes.
type failures struct {
	n, of   int
	runs    int // of failures without a success between them
	longest int // of these
	okSince int // successes after the last failure
}

func failuresOf(list []sample) (f failures) {
	f.of = len(list)
	run := 0
	for i := range list {
		if list[i].ok() {
			run = 0
			f.okSince++
			continue
		}
		if run == 0 {
			f.runs++
		}
		run++
		f.n, f.okSince, f.longest = f.n+1, 0, max(f.longest, run)
	}
	return f
}

// failureVerdict is about the newest failure. A failure with a rule of its own goes by that.
func (h *history) failureVerdict(otherwise diagnose.Rule, s diagnose.Severity, words string) diagnose.Verdict {
	f := &h.failure
	v := diagnose.Verdict{Rule: otherwise, Severity: s, Text: words + diagnose.FailureText(f), Advice: diagnose.FailureAdvice(f)}
	switch {
	case f.Class == measure.RateLimited:
		v.Rule = diagnose.RuleRateLimits
	case f.Class == measure.Truncated:
		v.Rule = RuleTruncated
	case f.Cause == measure.NoSuchModel:
		v.Rule = RuleModelNotFound
	}
	return v
}
