package sweep_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/sim"
	"sonde/probe/simtest"
	"sonde/probe/sweep"
)

// run lets a sweep run to its end in virtual time, three minutes at most.
func run(t *testing.T, r *simtest.Rig, c *sweep.Controller, p sweep.Plan) {
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
}

// says is what a sweep concluded, in words.
func says(res sweep.Result) string {
	if res.Knee == nil {
		return "no knee: " + res.NoKnee
	}
	return res.Knee.Says + " (" + strings.Join(res.Knee.Evidence, "; ") + "); " + res.Boundary.Says
}

// held is what a load shows when it is held for long.
func held(t *testing.T, engine sim.Options, load probe.Load, slos []sweep.SLO, long time.Duration) (row sweep.Row) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, engine, probe.Options{Load: load})
		levels := sweep.NewLevels(slos)
		r.Play(long, levels.Add)
		row = levels.Rows()[0]
	})
	return row
}

// power is throughput over response time of a load that was held for long, and meets
// whether it then met its service levels.
func truth(t *testing.T, engine sim.Options, load probe.Load, slos []sweep.SLO, streams int) (power float64, meets bool) {
	load.Concurrency = streams
	row := held(t, engine, load, slos, 2*time.Minute)
	return float64(streams) / (row.E2E.Mean * row.E2E.Mean), row.Verdict().Met()
}

// scenario is an engine whose knee and boundary are known.
type scenario struct {
	name      string
	engine    sim.Options
	load      probe.Load
	slo       sweep.SLO
	exhausted sweep.Resource
}

// The machine is slow, and answers are short: tests have fewer tokens to move. One step of
// the model reads 15 GB of weights at 0.8 × 600 GB/s, which is 31 ms.
func scenarios() []scenario {
	load := probe.Load{InputTokens: 128, OutputTokens: 48}
	return []scenario{
		// 12 run and no more; who comes beyond them waits for the end of one of them.
		{"sequences", sim.Options{GPU: "A10G", MaxSeqs: 12, KVGB: 5}, load,
			sweep.SLO{Text: "ttft_p95=500ms", Metric: "ttft", Quantile: 0.95, LimitMS: 500}, sweep.MaxSequences},
		// Everything runs. A step takes longer the more prompts are computed in it.
		{"arithmetic", sim.Options{GPU: "A10G", MaxSeqs: 512, KVGB: 5}, load,
			sweep.SLO{Text: "tpot_p95=60ms", Metric: "tpot", Quantile: 0.95, LimitMS: 60}, sweep.Compute},
	}
}

var seeds = flag.Uint64("seeds", 3, "how many seeds of each scenario are swept")

// The knee and the boundary that a sweep finds in less than three minutes are at most one
// step of its ladder off those of an engine that is held at each load for long.
func TestFindsKneeAndBoundary(t *testing.T) {
	for _, s := range scenarios() {
		known := map[int]struct {
			power float64
			meets bool
		}{}
		at := func(streams int) (float64, bool) {
			if _, done := known[streams]; !done {
				k := known[streams]
				k.power, k.meets = truth(t, s.engine, s.load, []sweep.SLO{s.slo}, streams)
				known[streams] = k
			}
			return known[streams].power, known[streams].meets
		}
		for seed := range *seeds {
			t.Run(fmt.Sprintf("%s/%d", s.name, seed), func(t *testing.T) {
				res := swept(t, s, seed)
				checkKnee(t, s, res, at)
				checkBoundary(t, res, at)
			})
		}
	}
}

func swept(t *testing.T, s scenario, seed uint64) (res sweep.Result) {
	synctest.Test(t, func(t *testing.T) {
		s.engine.Seed = seed
		r := simtest.Start(t, s.engine, probe.Options{Load: s.load, Seed: seed})
		c := sweep.NewController(r.Session, sweep.NewLevels([]sweep.SLO{s.slo}))
		run(t, r, c, sweep.Plan{Load: r.Session.Load(), Cap: 256})
		res = c.Result()
	})
	return res
}

// checkKnee: of all loads of the ladder the one with the largest true power is the knee or
// its neighbour.
func checkKnee(t *testing.T, s scenario, res sweep.Result, at func(int) (float64, bool)) {
	if res.Knee == nil || res.Knee.Exhausted != s.exhausted {
		t.Error(says(res))
		return
	}
	best, most := 0, 0.0
	for i := range res.Curve {
		if power, _ := at(res.Curve[i].Load.Concurrency); power > most {
			best, most = res.Curve[i].Load.Concurrency, power
		}
	}
	if low, high := res.Knee.Below.Load.Concurrency, res.Knee.Above.Load.Concurrency; best < low || best > high {
		t.Errorf("the true knee is at %d: %s", best, says(res))
	}
}

// checkBoundary: of all loads of the ladder the largest that truly meets the levels is the one
// that was found, or its neighbour.
func checkBoundary(t *testing.T, res sweep.Result, at func(int) (float64, bool)) {
	if res.Boundary.Best == nil || res.Boundary.Above == nil {
		t.Error(says(res))
		return
	}
	found, truly := -1, -1
	for i := range res.Curve {
		if res.Curve[i].Load == res.Boundary.Best.Load {
			found = i
		}
		if _, meets := at(res.Curve[i].Load.Concurrency); meets {
			truly = i
		}
	}
	if found < truly-1 || found > truly+1 {
		t.Errorf("the true boundary is at %s: %s", sweep.Describe(res.Curve[truly].Load), says(res))
	}
}

// Somebody who changes the load by hand has it from there; the sweep goes on when it is told
// to, at the level that it was at, and keeps what it has.
func TestHandedOverAndResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{MaxSeqs: 16}, probe.Options{})
		c := sweep.NewController(r.Session, sweep.NewLevels(nil))
		if err := c.Start(sweep.Plan{Load: r.Session.Load(), Rungs: []float64{2, 4, 8}}); err != nil {
			t.Fatal(err)
		}
		r.Play(40*time.Second, c.Add)
		s := c.Status()
		if s.State != sweep.Running || s.Level != 2 || s.Load.Concurrency != 4 || s.More != 1 || s.Guess {
			t.Fatalf("%+v", s)
		}
		byHand := s.Load
		byHand.Concurrency = 3
		r.Session.SetLoad(byHand)
		r.Play(20*time.Second, c.Add)
		if s := c.Status(); s.State != sweep.Paused || r.Session.Load() != byHand {
			t.Fatalf("%+v, load %+v", s, r.Session.Load())
		}
		if !c.Resume() || r.Session.Load().Concurrency != 4 {
			t.Errorf("resumed at %+v", r.Session.Load())
		}
		r.Play(90*time.Second, c.Add)
		if s := c.Status(); s.State != sweep.Done || r.Session.Load().Concurrency != 0 {
			t.Errorf("%s, load %+v", s.Line(), r.Session.Load())
		}
		var found []float64
		for _, row := range c.Result().Curve {
			found = append(found, row.Amount())
			if !row.Settled || row.N() < 20 {
				t.Errorf("%s: %d requests, settled %v", sweep.Describe(row.Load), row.N(), row.Settled)
			}
		}
		if fmt.Sprint(found) != "[2 3 4 8]" {
			t.Errorf("levels %v", found)
		}
		if c.Resume() {
			t.Error("a sweep that is done goes on")
		}
	})
}

// An engine that is asked for more than it can serve is left at once: the larger levels of the list are not tried, and nothing is left running.
func TestOpenLoopStopsWhereItIsNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{MaxSeqs: 8}, probe.Options{})
		c := sweep.NewController(r.Session, sweep.NewLevels(nil))
		load := r.Session.Load()
		load.Concurrency, load.Poisson = 256, true
		run(t, r, c, sweep.Plan{Load: load, Open: true, Rungs: []float64{2, 4, 12, 20, 3}, PerLevel: 30 * time.Second})
		if s := c.Status(); !strings.Contains(s.Why, "of 12 requests/s are served") {
			t.Errorf("%+v", s)
		}
		var found []float64
		for _, row := range c.Result().Curve {
			found = append(found, row.Amount())
		}
		if fmt.Sprint(found) != "[2 3 4 12]" { // 20 is left out, 3 is less than what was too much
			t.Errorf("levels %v", found)
		}
	})
}
