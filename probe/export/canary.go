package export

import (
	"sonde/probe/canary"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// canaryStates are the words of all states.
var canaryStates = func() (words []string) {
	for _, s := range canary.States {
		words = append(words, s.String())
	}
	return words
}()

// WatchCanary exports the state of a canary's targets. Its requests come through Count.
func (m *Metrics) WatchCanary(c *canary.Canary) {
	for _, r := range c.Rows() {
		if r.Model != "" {
			m.Announce(r.Target.Endpoint, r.Model)
		}
	}
	m.Watch(func() []Status {
		var all []Status
		for _, r := range c.Rows() {
			all = append(all, statusOf(&r))
		}
		return all
	})
}

func statusOf(r *canary.Row) Status {
	s := Status{
		Endpoint: r.Target.Endpoint, Model: r.Model, LastSuccess: r.LastSuccess, Rule: r.Verdict.Rule, Severity: r.Verdict.Severity,
		Canary: &Canary{State: r.State.String(), States: canaryStates, Since: r.Since, Budget: r.Target.Budget, Spent: r.Spent},
	}
	if !r.Began.IsZero() {
		s.InFlight = 1
	}
	if !r.LastEnded.IsZero() {
		s.Up = opt.Of(0)
		if r.Last.Class == measure.OK {
			s.Up = opt.Of(1)
		}
	}
	return s
}
