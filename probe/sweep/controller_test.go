package sweep_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/sim"
	"sonde/probe/simtest"
	"sonde/probe/slo"
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
	return res.Knee.String() + " (" + strings.Join(res.Knee.Evidence(), "; ") + "); " + res.Boundary.String()
}

// held is what a load shows when it is held for long.
func held(t *testing.T, engine sim.Options, load frame.Load, slos []slo.Target, long time.Duration) (row level.Level) {
	synctest.Test(t, func(t *testing.T) {
		streams := load.Concurrency
		load.Concurrency = 0
		r := simtest.Start(t, engine, probe.Options{Load: load})
		r.Session.SetRamp(1500 * time.Millisecond)
		ask := r.Session.Load()
		ask.Concurrency = streams
		r.Session.SetLoad(ask)
		levels := level.NewBook(slos)
		r.Play(long, levels.Add)
		row = levels.Levels()[0]
	})
	return row
}

// power is throughput over response time of a load that was held for long, and meets
// whether it then met its service levels.
func truth(t *testing.T, engine sim.Options, load frame.Load, slos []slo.Target, streams int) (power float64, meets bool) {
	load.Concurrency = streams
	row := held(t, engine, load, slos, 40*time.Second)
	return float64(streams) / (row.E2E.Mean * row.E2E.Mean), row.Verdict().Met()
}

// scenario is an engine whose knee and boundary are known.
type scenario struct {
	name      string
	engine    sim.Options
	load      frame.Load
	slo       slo.Target
	exhausted sweep.Resource
}

func scenarios() []scenario {
	return []scenario{
		// 16 run and no more; who comes beyond them waits for the end of one of them.
		{"sequences", sim.Options{MaxSeqs: 16}, frame.Load{},
			slo.Target{Text: "ttft_p95=500ms", Metric: "ttft", Quantile: 0.95, LimitMS: 500}, sweep.MaxSequences},
		// Everything runs. A step takes longer the more prompts are computed in it.
		{"arithmetic", sim.Options{MaxSeqs: 512, KVGB: 40}, frame.Load{},
			slo.Target{Text: "tpot_p95=20ms", Metric: "tpot", Quantile: 0.95, LimitMS: 20}, sweep.Compute},
	}
}

var seeds = flag.Uint64("seeds", 1, "how many seeds of each scenario are swept")

// The knee and the boundary that a sweep finds in less than three minutes are at most one
// step of its ladder off those of an engine that is held at each load for long.
func TestFindsKneeAndBoundary(t *testing.T) {
	if simtest.UnderRace {
		t.Skip("takes minutes, and the other sweeps run the same code")
	}
	for _, s := range scenarios() {
		known := map[int]struct {
			power float64
			meets bool
		}{}
		at := func(streams int) (float64, bool) {
			if _, done := known[streams]; !done {
				k := known[streams]
				k.power, k.meets = truth(t, s.engine, s.load, []slo.Target{s.slo}, streams)
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
		c := sweep.NewController(r.Session, level.NewBook([]slo.Target{s.slo}))
		run(t, r, c, sweep.Plan{Load: r.Session.Load(), Cap: 256})
		res = c.Result()
	})
	return res
}

// checkKnee: the true power at the knee, or at one of its neighbours on the ladder, is the largest
// of the loads around, to 3 %: a smooth curve is flat at its top.
func checkKnee(t *testing.T, s scenario, res sweep.Result, at func(int) (float64, bool)) {
	if res.Knee == nil || res.Knee.Limit.Resource != s.exhausted {
		t.Error(says(res))
		return
	}
	i := slices.IndexFunc(res.Curve, func(r level.Level) bool { return r.Load == res.Knee.At.Load })
	near, all := 0.0, 0.0
	for k := max(0, i-3); k <= min(i+3, len(res.Curve)-1); k++ {
		power, _ := at(res.Curve[k].Load.Concurrency)
		all = max(all, power)
		if k >= i-1 && k <= i+1 {
			near = max(near, power)
		}
	}
	if near < 0.97*all {
		t.Errorf("power %.3g at best, of %.3g: %s", near, all, says(res))
	}
}

// checkBoundary: the largest load that truly meets the levels is the one that was found or its
// neighbour on the ladder.
func checkBoundary(t *testing.T, res sweep.Result, at func(int) (float64, bool)) {
	if res.Boundary.Best == nil || res.Boundary.Above == nil {
		t.Error(says(res))
		return
	}
	i := slices.IndexFunc(res.Curve, func(r level.Level) bool { return r.Load == res.Boundary.Best.Load })
	_, below := at(res.Curve[max(0, i-1)].Load.Concurrency)
	_, above := at(res.Curve[min(i+2, len(res.Curve)-1)].Load.Concurrency)
	if !below || above {
		t.Errorf("one below meets: %v, two above: %v; %s", below, above, says(res))
	}
}

// Somebody who changes the load by hand has it from there; the sweep goes on when it is told
// to, at the level that it was at, and keeps what it has.
func TestHandedOverAndResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{MaxSeqs: 16}, probe.Options{})
		c := sweep.NewController(r.Session, level.NewBook(nil))
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
		if s := c.Status(); s.State != sweep.Paused || s.Why != "the load was changed by hand" || r.Session.Load() != byHand {
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
			if !row.Settled || row.OK < 20 {
				t.Errorf("%s: %d requests, settled %v", sweep.Describe(row.Load), row.OK, row.Settled)
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

// meddled is Controls of which somebody else changes the load right after the sweep has.
type meddled struct {
	frame.Controls
	to int // streams; 0: nobody does
}

func (m *meddled) SetLoad(l frame.Load) frame.Load {
	l = m.Controls.SetLoad(l)
	if m.to > 0 {
		byHand := l
		byHand.Concurrency = m.to
		m.Controls.SetLoad(byHand)
	}
	return l
}

// However soon after the sweep somebody changes the load, it is theirs: the sweep does not take
// it for its own.
func TestHandedOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{MaxSeqs: 16}, probe.Options{})
		c := sweep.NewController(&meddled{r.Session, 3}, level.NewBook(nil))
		if err := c.Start(sweep.Plan{Load: r.Session.Load(), Rungs: []float64{2, 4}}); err != nil {
			t.Fatal(err)
		}
		r.Play(20*time.Second, c.Add)
		if s := c.Status(); s.State != sweep.Paused || s.Why != "the load was changed by hand" || r.Session.Load().Concurrency != 3 {
			t.Errorf("%s, load %+v", s.Line(), r.Session.Load())
		}
	})
}

// An engine that is asked for more than it can serve is left at once: the larger levels of the list are not tried, and nothing is left running.
func TestOpenLoopStopsWhereItIsNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{MaxSeqs: 8}, probe.Options{})
		c := sweep.NewController(r.Session, level.NewBook(nil))
		load := r.Session.Load()
		load.Concurrency, load.Arrivals = 256, arrivals.Poisson
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

// A service that fails for a good part of the requests is left alone after the first level, which
// does not wait for its samples.
func TestStopsOnErrors(t *testing.T) {
	faults, err := sim.ParseFaults("503=0.4")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{Faults: faults, Seed: 3}, probe.Options{})
		c := sweep.NewController(r.Session, level.NewBook(nil))
		began := time.Now()
		run(t, r, c, sweep.Plan{Load: r.Session.Load(), Rungs: []float64{4, 8, 16}})
		if s := c.Status(); !strings.Contains(s.Why, "requests failed at 4 streams") || len(c.Result().Curve) != 1 || time.Since(began) > time.Minute {
			t.Errorf("after %v: %+v", time.Since(began), s)
		}
	})
}

// A smaller load begins on an idle server, with its streams spread: none of the waves of the larger
// one is left.
func TestSmallerLoadsBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{MaxSeqs: 8}, probe.Options{})
		c := sweep.NewController(r.Session, level.NewBook(nil))
		var inFlight []int // of every Frame between the levels of 16 and of 4
		idle, spread := 0, map[int]bool{}
		follow := func(f *frame.Frame) {
			c.Add(f)
			if s := c.Status(); s.State == sweep.Running && s.Level == 2 && !s.Settled {
				inFlight = append(inFlight, f.Client.InFlight)
			}
		}
		if err := c.Start(sweep.Plan{Load: r.Session.Load(), Rungs: []float64{16, 4}}); err != nil {
			t.Fatal(err)
		}
		r.Play(90*time.Second, follow)
		for _, n := range inFlight {
			if n == 0 {
				idle++
			} else if idle > 0 {
				spread[n] = true
			}
		}
		if idle == 0 || !spread[1] || !spread[2] || !spread[3] || !spread[4] || len(spread) != 4 {
			t.Errorf("in flight %v", inFlight)
		}
		if s := c.Status(); s.State != sweep.Done || len(c.Result().Curve) != 2 {
			t.Errorf("%+v", s)
		}
	})
}
