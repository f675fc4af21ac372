package canary

import (
	"fmt"
	"slices"
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/measure"
)

// span is how far back a canary looks: for its budget, and for what is usual.
const span = time.Hour

// budget bounds the tokens that a target costs in any hour. Probes are spread evenly over it.
type budget struct {
	perHour   int // tokens; 0: no limit
	requested int // tokens of one probe, in and out
	largest   int // tokens that one probe has cost: servers add a template to the prompt
	spends    []spend
}

type spend struct {
	at     time.Time
	tokens int
}

// probe is what the next probe is expected to cost at most.
func (b *budget) probe() int { return max(b.requested, b.largest) }

// stretch makes the interval between probes long enough for the budget.
func (b *budget) stretch(every time.Duration) time.Duration {
	if b.perHour <= 0 {
		return every
	}
	return max(every, time.Duration(float64(span)*float64(b.probe())/float64(b.perHour)))
}

// spent is how many tokens the last hour took.
func (b *budget) spent(now time.Time) (tokens int) {
	b.spends = slices.DeleteFunc(b.spends, func(s spend) bool { return now.Sub(s.at) >= span })
	for _, s := range b.spends {
		tokens += s.tokens
	}
	return tokens
}

// wait is how long to wait until the next probe fits into the budget; 0: it does.
func (b *budget) wait(now time.Time) time.Duration {
	if b.perHour <= 0 {
		return 0
	}
	if _, hopeless := b.verdict(); hopeless {
		return span
	}
	over := b.spent(now) + b.probe() - b.perHour
	for _, s := range b.spends {
		if over <= 0 {
			break
		}
		if over -= s.tokens; over <= 0 {
			return s.at.Add(span).Sub(now)
		}
	}
	return 0
}

// spend notes what a probe cost.
func (b *budget) spend(now time.Time, r *measure.Request) {
	tokens := b.cost(r)
	b.largest = max(b.largest, tokens)
	if tokens > 0 {
		b.spends = append(b.spends, spend{now, tokens})
	}
}

// cost is what a probe cost: by the server's counts, and where there are none as much as the
// server may have worked before it broke.
func (b *budget) cost(r *measure.Request) int {
	switch {
	case r.InTokens > 0:
		return r.InTokens + r.OutTokens
	case r.Class == measure.OK:
		return max(b.requested, r.OutTokens)
	case r.Chunks > 0:
		return b.requested
	}
	switch r.Class {
	case measure.Timeout, measure.StreamError, measure.Truncated, measure.ConnectionLost, measure.Empty:
		return b.requested
	}
	return 0 // refused, or never sent
}

// RuleBudget is the rule on a budget that no probe fits into.
const RuleBudget diagnose.Rule = "budget"

// verdict says that the budget is too small for a single probe, if it is.
func (b *budget) verdict() (v diagnose.Verdict, hopeless bool) {
	if b.perHour <= 0 || b.probe() <= b.perHour {
		return v, false
	}
	return diagnose.Verdict{
		Rule: RuleBudget, Severity: diagnose.Warn,
		Text:   fmt.Sprintf("no longer probed: one probe takes %d tokens, and the budget is %d an hour", b.probe(), b.perHour),
		Advice: "raise --budget, or lower --input and --output",
	}, true
}

// budget is that of a target which has spent nothing yet.
func (t *Target) budget() budget {
	return budget{perHour: t.Budget, requested: t.Input + t.Output}
}

// Interval is how long it is between two probes, so that they stay within the budget.
func (t *Target) Interval() time.Duration {
	b := t.budget()
	return b.stretch(t.Every)
}

// PerDay is how many tokens the target costs in a day at most, by what is requested.
func (t *Target) PerDay() int {
	return int(24 * float64(time.Hour) / float64(t.Interval()) * float64(t.Input+t.Output))
}
