package probe_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/frame"
	"sonde/probe/sim"
	"sonde/probe/simtest"
)

// A server can list its models while it loads one. The prompts are fitted once it answers, and
// the load meets no refusal.
func TestPromptsAreFittedAfterLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{Faults: sim.Faults{Loading: 8 * time.Second}},
			probe.Options{Load: frame.Load{Concurrency: 2, InputTokens: 256, OutputTokens: 16}})
		var last *frame.Frame
		r.Play(5*time.Second, func(f *frame.Frame) { last = f })
		c := &last.Client
		if c.OK == 0 || c.Failed != 0 || len(c.ByClass) != 0 || c.InputTokens.V < 255 || c.InputTokens.V > 257 {
			t.Errorf("ok %d, failed %d %v, prompts of %v tokens", c.OK, c.Failed, c.ByClass, c.InputTokens)
		}
		if notes := strings.Join(last.Target.Notes, "\n"); strings.Contains(notes, "fitted the prompt length") {
			t.Errorf("a refused request is said to have fitted something: %s", notes)
		}
	})
}
