// Package diagnose turns Frames into verdicts: what is wrong, with the
// evidence, and what to do about it.
//
// A wrong verdict is worse than none. A rule whose inputs are unknown does not
// apply, and every rule names the figures it rests on.
package diagnose

import "fmt"

// Severity is how much a verdict matters.
type Severity int

// Severities, weakest first.
const (
	Unknown Severity = iota // nothing can be said yet
	Healthy
	Info // worth knowing, not a fault
	Warn
	Bad
)

// String is the severity in a word.
func (s Severity) String() string {
	return [...]string{"unknown", "healthy", "info", "warn", "bad"}[s]
}

// Rule names a finding. The names are in the JSON, so they do not change.
type Rule string

// Rules that others name too: reports add to the one on SLOs, and a canary finds the same things
// in single requests.
const (
	RuleSLO        Rule = "slo"
	RuleAllFail    Rule = "all_fail"
	RuleSomeFail   Rule = "some_fail"
	RuleLoading    Rule = "loading"
	RuleRateLimits Rule = "rate_limits"
	RuleHealthy    Rule = "healthy"
	RuleNoData     Rule = "no_data"
	RuleRecovering Rule = "recovering"
)

// Verdict is one finding.
type Verdict struct {
	Rule     Rule
	Severity Severity
	Text     string   // one sentence with its figures
	Evidence []string // what it rests on
	Advice   string   // what to do; "" if nothing

	aside bool // worth knowing beside good health: it comes after it
}

// rank sorts verdicts: by severity, with those that go with good health last.
func (v Verdict) rank() int {
	if v.aside {
		return int(Healthy)
	}
	return int(v.Severity)
}

// outcome is what became of a rule.
type outcome int

const (
	inconclusive outcome = iota // inputs unknown, or not enough data yet
	ruledOut
	holds
)

// finding is what a rule finds. Its verdict counts only if the rule holds.
type finding struct {
	outcome
	Verdict
}

var unclear, absent = finding{outcome: inconclusive}, finding{outcome: ruledOut}

func info(format string, args ...any) finding { return say(Info, format, args...) }
func warn(format string, args ...any) finding { return say(Warn, format, args...) }
func bad(format string, args ...any) finding  { return say(Bad, format, args...) }

func say(s Severity, format string, args ...any) finding {
	return finding{holds, Verdict{Severity: s, Text: fmt.Sprintf(format, args...)}}
}

// with adds a line of evidence, unless it is empty.
func (f finding) with(format string, args ...any) finding {
	if line := fmt.Sprintf(format, args...); line != "" {
		f.Evidence = append(f.Evidence, line)
	}
	return f
}

// withIf adds evidence that is not always known.
func (f finding) withIf(known bool, format string, args ...any) finding {
	if !known {
		return f
	}
	return f.with(format, args...)
}

// asIf changes the severity under a condition.
func (f finding) asIf(condition bool, s Severity) finding {
	if condition {
		f.Severity = s
	}
	return f
}

// besideIf lets the verdict come after good health under a condition.
func (f finding) besideIf(condition bool) finding {
	f.aside = condition
	return f
}

func (f finding) advise(advice string) finding {
	f.Advice = advice
	return f
}

// decide is a finding if the rule could be judged, and its condition is met.
func decide(known, condition bool, f finding) finding {
	switch {
	case !known:
		return unclear
	case !condition:
		return absent
	}
	return f
}

// colon leads a sentence on to its reason, if there is one.
func colon(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
