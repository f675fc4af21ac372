package diagnose_test

import (
	"slices"
	"time"

	"sonde/probe/diagnose"
)

// within is how soon the right verdict, and the end of a trouble, must be said.
const within = 10 * time.Second

// timed follows what is said of a trouble over time.
type timed struct {
	last      diagnose.Rule
	changes   int
	recovered bool // its end was said
	failed    map[diagnose.Rule]bool
}

// judge checks what is shown at a moment: nothing wrong, and the right thing soon.
func (k *timed) judge(s *stage, at time.Duration, all []diagnose.Verdict) {
	w := s.scenario.Trouble
	from, until := w.From.Duration, w.Until.Duration
	right := func(r diagnose.Rule) bool { return slices.Contains(w.Right, r) }
	wrong := func(v diagnose.Verdict, why string) {
		if k.failed == nil {
			k.failed = map[diagnose.Rule]bool{}
		}
		if !k.failed[v.Rule] {
			k.failed[v.Rule] = true
			s.Errorf("%.2f s: %s (%v) %s: %s", at.Seconds(), v.Rule, v.Severity, why, v.Text)
		}
	}
	for _, v := range all {
		trouble := v.Severity >= diagnose.Warn || right(v.Rule)
		switch {
		case !trouble:
		case at < from || at > until+within:
			wrong(v, "although all is well")
		case !right(v.Rule) && !slices.Contains(w.Beside, v.Rule):
			wrong(v, "is wrong")
		}
	}
	strongest := all[0]
	if at >= from+within && at <= until && !right(strongest.Rule) {
		wrong(strongest, "is the strongest")
	}
	if at > until && (strongest.Rule == diagnose.RuleRecovering || strongest.Rule == diagnose.RuleHealthy) {
		k.recovered = true
	}
	if at > until+within && !k.recovered {
		wrong(strongest, "and no recovery was said")
	}
	if at >= from && strongest.Rule != k.last {
		k.changes++
	}
	k.last = strongest.Rule
}

// end checks that what was shown did not flicker.
func (k *timed) end(s *stage) {
	if w := s.scenario.Trouble; k.changes > w.Changes {
		s.Errorf("the strongest verdict changed %d times since the trouble began, want at most %d", k.changes, w.Changes)
	}
}
