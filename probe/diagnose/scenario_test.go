package diagnose_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"sonde/probe"
	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/sim"
	"sonde/probe/simtest"
)

// scenario is something that happens to a server, and what has to be said of it.
// Everything is played on the embedded engine in virtual time.
type scenario struct {
	name   string
	engine sim.Options
	ask    probe.Options
	front  front // nil: nothing stands before the engine
	slos   []diagnose.SLO
	lasts  time.Duration  // 30 s if it is 0 and play is nil
	play   func(s *stage) // what happens; nil: time passes

	strongest diagnose.Rule   // rule of the first verdict at the end
	says      []string        // parts of its sentence or evidence
	also      []diagnose.Rule // further rules that hold then, each of them truly
	may       []diagnose.Rule // remarks that come and go
	never     bool            // no warning may appear at any moment
	refuted   []diagnose.Rule // rules that must be judged then, and found not to hold
}

// stage is a scenario being played.
type stage struct {
	*testing.T
	rig      *simtest.Rig
	judge    *diagnose.Judge
	scenario *scenario
	trace    []string
	last     string
}

// play lets time pass; every Frame is judged.
func (s *stage) play(d time.Duration) { s.rig.Play(d, s.read) }

func (s *stage) read(f *frame.Frame) {
	s.judge.Add(f)
	all := s.judge.Verdicts()
	now := ""
	for _, v := range all {
		now += " " + string(v.Rule)
		if s.scenario.never && v.Severity >= diagnose.Warn {
			s.Errorf("%.2f s: %s: %s %q", f.At.Seconds(), v.Rule, v.Text, v.Evidence)
		}
	}
	if now != s.last {
		s.last = now
		s.trace = append(s.trace, fmt.Sprintf("%6.2f s:%s: %s", f.At.Seconds(), now, all[0].Text))
	}
}

// fault changes what goes wrong with the engine.
func (s *stage) fault(list string) {
	if err := s.rig.Engine.ChangeFaults(list); err != nil {
		s.Fatal(err)
	}
}

// load changes the load.
func (s *stage) load(change func(l *frame.Load)) {
	l := s.rig.Session.Load()
	change(&l)
	s.rig.Session.SetLoad(l)
}

func (s *scenario) run(t *testing.T) {
	rig := simtest.StartBehind(t, s.engine, s.ask, func(engine http.Handler) http.Handler {
		if s.front == nil {
			return engine
		}
		return s.front(t, engine)
	})
	at := &stage{T: t, rig: rig, judge: diagnose.New(), scenario: s}
	at.judge.SetSLOs(s.slos)
	if s.play == nil {
		at.play(cmp.Or(s.lasts, 30*time.Second))
	} else {
		s.play(at)
	}
	at.compare()
	if t.Failed() || testing.Verbose() {
		t.Log("\n" + strings.Join(at.trace, "\n"))
	}
}

// longestSentence is what fits into one line of 120 columns behind the sign.
const longestSentence = 117

// compare checks every verdict of the last moment.
func (s *stage) compare() {
	want := append([]diagnose.Rule{s.scenario.strongest}, s.scenario.also...)
	all := s.judge.Verdicts()
	var got []diagnose.Rule
	for _, v := range all {
		got = append(got, v.Rule)
		if !slices.Contains(want, v.Rule) && !slices.Contains(s.scenario.may, v.Rule) {
			s.Errorf("%s holds, too: %s %q", v.Rule, v.Text, v.Evidence)
		}
	}
	for _, rule := range want {
		if !slices.Contains(got, rule) {
			s.Errorf("%s does not hold", rule)
		}
	}
	if all[0].Rule != s.scenario.strongest {
		s.Errorf("strongest is %s: %s", all[0].Rule, all[0].Text)
	}
	text := all[0].Text + " | " + strings.Join(all[0].Evidence, " | ")
	for _, part := range s.scenario.says {
		if !strings.Contains(text, part) {
			s.Errorf("%q lacks %q", text, part)
		}
	}
	for _, v := range all {
		if n := utf8.RuneCountInString(v.Text); n > longestSentence {
			s.Errorf("%s: %d columns: %q", v.Rule, n, v.Text)
		}
		if len(v.Evidence) == 0 && v.Severity >= diagnose.Info {
			s.Errorf("%s has no evidence", v.Rule)
		}
	}
	refuted := s.judge.Checked().RuledOut
	for _, rule := range s.scenario.refuted {
		if !slices.Contains(refuted, rule) {
			s.Errorf("%s is not refuted", rule)
		}
	}
}

func scenarios() []scenario {
	return slices.Concat(healthyScenarios(), loadScenarios(), engineScenarios(), pathScenarios(), failureScenarios(), playedScenarios())
}

// TestScenarios plays all of them, side by side. Under the race detector, where a scenario
// takes up to half a minute, one of eight is played: they differ in what the one reader is
// given, not in what goes on at the same time.
func TestScenarios(t *testing.T) {
	for i, s := range scenarios() {
		if simtest.UnderRace && i%8 != 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, s.run)
		})
	}
}

// Every rule is proved by a scenario that triggers it and one that does not.
func TestEveryRuleHasItsScenarios(t *testing.T) {
	triggered, refuted := map[diagnose.Rule]bool{}, map[diagnose.Rule]bool{}
	for _, s := range scenarios() {
		for _, rule := range append([]diagnose.Rule{s.strongest}, s.also...) {
			triggered[rule] = true
		}
		for _, rule := range s.refuted {
			refuted[rule] = true
		}
	}
	for _, rule := range diagnose.RuleNames() {
		if !triggered[rule] {
			t.Errorf("no scenario triggers %s", rule)
		}
		if !refuted[rule] {
			t.Errorf("no scenario refutes %s", rule)
		}
	}
}
