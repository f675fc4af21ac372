package diagnose_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/sim/faults"
	"sonde/probe/simtest"
	"sonde/probe/slo"
)

// stage is a scenario being played.
type stage struct {
	*testing.T
	rig      *simtest.Rig
	judge    *diagnose.Judge
	scenario *scenario
	trace    []string
	last     string
	timed    timed
}

// play lets time pass; every Frame is judged.
func (s *stage) play(d time.Duration) { s.rig.Play(d, s.read) }

func (s *stage) read(f *frame.Frame) {
	s.judge.Add(f)
	all := s.judge.Verdicts()
	now := ""
	for _, v := range all {
		now += " " + string(v.Rule)
		if s.scenario.Calm && v.Severity >= diagnose.Warn {
			s.Errorf("%.2f s: %s: %s %q", f.At.Seconds(), v.Rule, v.Text, v.Evidence)
		}
	}
	if s.scenario.Trouble != nil {
		s.timed.judge(s, f.At, all)
	}
	if now != s.last {
		s.last = now
		s.trace = append(s.trace, fmt.Sprintf("%6.2f s:%s: %s", f.At.Seconds(), now, all[0].Text))
	}
}

func (s *scenario) run(t *testing.T) {
	rig := simtest.StartBehind(t, s.Engine.options(t), s.options(), func(engine http.Handler) http.Handler { return s.Front.before(t, engine) })
	at := &stage{T: t, rig: rig, judge: diagnose.New(), scenario: s}
	if s.SLO != "" {
		at.judge.SetSLOs([]slo.Target{latencySLO(t, s.SLO)})
	}
	now := time.Duration(0)
	for _, c := range s.Then {
		at.play(c.At.Duration - now)
		at.change(&c)
		now = c.At.Duration
	}
	at.play(s.Lasts.Duration - now)
	if s.Trouble != nil {
		at.timed.end(at)
	}
	if s.Strongest != "" {
		at.compare()
	}
	if t.Failed() || testing.Verbose() {
		t.Log("\n" + strings.Join(at.trace, "\n"))
	}
}

// change lets something happen.
func (s *stage) change(c *change) {
	load := s.rig.Session.Load()
	if c.Streams != nil {
		load.Concurrency = *c.Streams
	}
	if c.In > 0 {
		load.InputTokens = c.In
	}
	if c.Streams != nil || c.In > 0 {
		s.rig.Session.SetLoad(load)
	}
	if c.Faults != "" {
		if err := s.rig.Engine.ChangeFaults(c.Faults); err != nil {
			s.Fatal(err)
		}
	}
	switch c.Do {
	case "abort":
		s.rig.Session.Abort()
	case "reset":
		s.rig.Session.ResetStatistics()
	case "long prompt":
		s.rig.Session.FireLong()
	}
	s.neighbours(c.Neighbours)
}

// latencySLO reads one such as "ttft_p95=2s".
func latencySLO(t *testing.T, text string) slo.Target {
	metric, percentile, limit := "", 0, ""
	if _, err := fmt.Sscanf(strings.NewReplacer("_p", " ", "=", " ").Replace(text), "%s %d %s", &metric, &percentile, &limit); err != nil {
		t.Fatal(text, err)
	}
	d, err := time.ParseDuration(limit)
	if err != nil {
		t.Fatal(text, err)
	}
	return slo.Target{Text: text, Metric: metric, Quantile: float64(percentile) / 100, LimitMS: float64(d.Milliseconds())}
}

// longestSentence is what fits into one line of 120 columns behind the sign.
const longestSentence = 117

// compare checks every verdict of the last moment.
func (s *stage) compare() {
	want := append([]diagnose.Rule{s.scenario.Strongest}, s.scenario.Also...)
	all := s.judge.Verdicts()
	var got []diagnose.Rule
	for _, v := range all {
		got = append(got, v.Rule)
		if !slices.Contains(want, v.Rule) && !slices.Contains(s.scenario.May, v.Rule) {
			s.Errorf("%s holds, too: %s %q", v.Rule, v.Text, v.Evidence)
		}
	}
	for _, rule := range want {
		if !slices.Contains(got, rule) {
			s.Errorf("%s does not hold", rule)
		}
	}
	if all[0].Rule != s.scenario.Strongest {
		s.Errorf("strongest is %s: %s", all[0].Rule, all[0].Text)
	}
	text := all[0].Text + " | " + strings.Join(all[0].Evidence, " | ")
	for _, part := range s.scenario.Says {
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
	for _, rule := range s.scenario.RuledOut {
		if !slices.Contains(refuted, rule) {
			s.Errorf("%s is not refuted", rule)
		}
	}
}

// TestScenarios plays all of them, side by side. Under the race detector, where a
// scenario takes up to half a minute, and with -short one of eight is played: they
// differ in what the one reader is given, not in what goes on at the same time.
func TestScenarios(t *testing.T) {
	for i, s := range scenarios(t) {
		if (simtest.UnderRace || testing.Short()) && i%8 != 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, s.run)
		})
	}
}

// Every rule is proved by a scenario that triggers it and one that does not, and every
// incident of the embedded engine has a verdict.
func TestEveryRuleHasItsScenarios(t *testing.T) {
	triggered, ruledOut, played := map[diagnose.Rule]bool{}, map[diagnose.Rule]bool{}, map[string]bool{}
	for _, s := range scenarios(t) {
		played[s.Engine.Scenario] = true
		for _, rule := range append([]diagnose.Rule{s.Strongest}, s.Also...) {
			triggered[rule] = true
		}
		for _, rule := range s.RuledOut {
			ruledOut[rule] = true
		}
	}
	// The played engines stand behind no Prometheus server; a test of its own has the rule.
	triggered["replicas_gone"], ruledOut["replicas_gone"] = true, true
	for _, rule := range diagnose.RuleNames() {
		if !triggered[rule] {
			t.Errorf("no scenario triggers %s", rule)
		}
		if !ruledOut[rule] {
			t.Errorf("no scenario rules %s out", rule)
		}
	}
	for _, incident := range faults.Scenarios {
		if !played[incident.Name] {
			t.Errorf("the incident %s is not played", incident.Name)
		}
	}
}
