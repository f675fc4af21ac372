package ui

import (
	"strings"
	"testing"

	"sonde/probe/diagnose"
	"sonde/ui/history"
)

// liveOther is a second endpoint, whose run is new at each look.
type liveOther struct {
	fakeOther
	verdict diagnose.Verdict
}

func (o *liveOther) Verdict() diagnose.Verdict { return o.verdict }

// A run that grows is announced once, keeps its alignment, and says when it gets into trouble and out of it.
func TestSecondEndpoint(t *testing.T) {
	m := session(120, 40, newTestTheme())
	run := otherRun()
	o := &liveOther{fakeOther{run: history.NewOther("new:8000", run.Levels, run.Timeline)}, diagnose.Verdict{Rule: diagnose.RuleHealthy, Severity: diagnose.Healthy, Text: "healthy"}}
	m.Other = o
	step := func(v diagnose.Verdict) string {
		o.run, o.verdict = history.NewOther("new:8000", run.Levels, run.Timeline), v
		m.notice = notice{}
		m.followOther()
		if m.live.Other != o.run {
			t.Error("the screen shows an older run")
		}
		return m.notice.text
	}
	healthy, failing := o.verdict, diagnose.Verdict{Rule: diagnose.RuleAllFail, Severity: diagnose.Bad, Text: "all requests fail"}
	if said := step(healthy); !strings.HasPrefix(said, "dim: new:8000") {
		t.Errorf("at first: %q", said)
	}
	m.live.ByLevel = true
	for _, s := range []struct {
		verdict diagnose.Verdict
		want    string
	}{{healthy, ""}, {failing, "new:8000: all requests fail"}, {failing, ""}, {healthy, "new:8000: healthy"}, {healthy, ""}} {
		if said := step(s.verdict); said != s.want {
			t.Errorf("%s: %q, not %q", s.verdict.Rule, said, s.want)
		}
	}
	if !m.live.ByLevel {
		t.Error("a longer run changed the alignment")
	}
}
