package diagnose_test

import (
	"net/http"
	"time"

	"sonde/probe"
	"sonde/probe/diagnose"
	"sonde/probe/sim"
)

// exhausted is a process that has no core left.
type exhausted struct{ used time.Duration }

func (p *exhausted) CPU() (time.Duration, bool) {
	p.used += 100 * probe.DefaultTick // since the last slice: a hundred cores, which nobody has
	return p.used, true
}

func (p *exhausted) LongestPause() time.Duration { return 0 }

// pathScenarios are about what lies before the engine: us, and the way.
func pathScenarios() []scenario {
	bandwidth := []diagnose.Rule{"bandwidth_bound"}
	return []scenario{
		{name: "this client cannot keep up", ask: busy(closed(4, 256, 128)), lasts: 15 * time.Second,
			strongest: "client_bottleneck", says: []string{"this process uses"}, may: bandwidth},
		{name: "a slow gateway", ask: closed(4, 256, 128), front: delayed(1, 600*time.Millisecond), lasts: 20 * time.Second,
			strongest: "path_delay", may: bandwidth, refuted: []diagnose.Rule{"slow_start"}},
		{name: "a buffering proxy", ask: closed(4, 256, 128), front: buffering(), lasts: 20 * time.Second,
			strongest: "clumps", also: []diagnose.Rule{"path_delay"}, may: bandwidth},
		{name: "tokens in clumps of sixteen", engine: sim.Options{Faults: sim.Faults{Clump: 16}}, ask: closed(4, 256, 128), lasts: 20 * time.Second,
			strongest: "clumps", may: append([]diagnose.Rule{"path_delay"}, bandwidth...)},
		{name: "uneven replicas", engine: roomy, ask: closed(4, 128, 32), front: twin(4, sim.Options{Speed: 0.4}),
			strongest: "uneven_replicas", says: []string{"25 % of requests"}, may: bandwidth},
		{name: "even replicas", engine: roomy, ask: closed(4, 128, 32), front: twin(4, roomy), strongest: "healthy",
			may: bandwidth, refuted: []diagnose.Rule{"uneven_replicas"}, never: true},
		{name: "some first tokens come late", ask: closed(4, 128, 32), front: delayed(40, 2*time.Second),
			strongest: "ttft_tail", may: bandwidth},
		{name: "one request of a hundred takes a hundred seconds", ask: patient(closed(2, 128, 96)), front: once(60, 100*time.Second), lasts: 145 * time.Second,
			strongest: "e2e_tail", says: []string{"it waited 100 s for its first token"}, may: bandwidth},
		{name: "the server slows down, and nothing else is known", ask: blind(closed(4, 128, 64)), strongest: "slowed", says: []string{"3.0 times as long"},
			play: func(s *stage) {
				s.play(15 * time.Second)
				s.fault("slow=3")
				s.play(20 * time.Second)
			}},
		{name: "nothing is answered", ask: closed(4, 256, 64), lasts: 40 * time.Second, front: silentFrom(20),
			strongest: "hang"},
	}
}

// busy gives the client no processor time to spare.
func busy(o probe.Options) probe.Options {
	o.Process = &exhausted{}
	return o
}

// patient does not give a silent server up.
func patient(o probe.Options) probe.Options {
	o.Idle = time.Hour
	return o
}

// once holds the n-th request back.
func once(which int64, d time.Duration) front {
	return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		if n == which {
			hold(r, d)
		}
		engine.ServeHTTP(w, r)
	})
}

// silentFrom takes requests and does not answer from the n-th on.
func silentFrom(which int64) front {
	return fronted(func(n int64, engine http.Handler, w http.ResponseWriter, r *http.Request) {
		if n >= which {
			hold(r, time.Hour)
			return
		}
		engine.ServeHTTP(w, r)
	})
}
