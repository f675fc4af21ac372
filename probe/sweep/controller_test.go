package sweep_test

import (
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/sim"
	"sonde/probe/simtest"
	"sonde/probe/sweep"
)

// run lets a sweep run to its end in virtual time, three minutes at most.
func run(t *testing.T, r *simtest.Rig, c *sweep.Controller, p sweep.Plan) time.Duration {
	t.Helper()
	if err := c.Start(p); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for c.Status().State == sweep.Running && time.Since(began) < 3*time.Minute {
		r.Play(time.Second, c.Add)
	}
	if s := c.Status(); s.State != sweep.Done {
		t.Errorf("after %v: %s", time.Since(began), s.Line())
	}
	return time.Since(began)
}

// An engine that runs at most 16 sequences serves 16 streams and no more: the 17th
// always waits for the end of one of them.
func TestKneeAtTheLimitOfSequences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slos := []sweep.SLO{{Text: "ttft_p95=500ms", Metric: "ttft", Quantile: 0.95, LimitMS: 500}}
		r := simtest.Start(t, sim.Options{MaxSeqs: 16}, probe.Options{})
		c := sweep.NewController(r.Session, sweep.NewLevels(slos))
		run(t, r, c, sweep.Plan{Load: r.Session.Load(), Cap: 256})
		res := c.Result()
		if res.Knee == nil || res.Knee.Below.Amount() >= 16 || res.Knee.Above.Amount() <= 16 || res.Knee.Exhausted != sweep.MaxSequences {
			t.Errorf("knee %+v (%s)", res.Knee, res.NoKnee)
		}
		if b := res.Boundary; b.Best == nil || b.Best.Amount() != 16 || b.Best.Verdict() != sweep.Meets {
			t.Errorf("boundary: %s", b.Says)
		}
	})
}
