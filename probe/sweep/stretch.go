package sweep

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// exactSamples is how many samples of one metric stay exact; beyond it quantiles
// are within 0.1 %.
const exactSamples = 8192

// stretch gathers what happened at one load setting, from one change of the load to the
// next. It belongs to the goroutine of its Levels.
type stretch struct {
	load    frame.Load
	level   int
	began   time.Duration
	from    time.Duration // figures are of what began after
	settled bool
	slos    []SLO
	prior   *stretch // what was gathered before it had settled

	held       time.Duration
	latency    measure.Latencies
	judged     []tally // by SLO
	good       int
	ok, failed int
	refused    int
	in, out    int // tokens of successes, as the server counts
	uncounted  int // successes whose prompt nobody counted
	live       int // tokens of requests that ended, as they were counted on arrival
	arrived    int // tokens on arrival
	bins       bins

	inFlight, running, waiting, kv, kvFullest opt.TimeMean
	sm, dram, tensor, mfu                     opt.TimeMean
	preemptions                               counter
	clientBound                               time.Duration
	clientWhy                                 string
}

func newStretch(f *frame.Frame, slos []SLO) *stretch {
	s := &stretch{load: f.Load.Asked, level: f.Load.Level, began: Changed(f), slos: slos}
	s.restart(s.began)
	return s
}

// Changed is when the load was changed, in the slice of the first Frame that shows it.
func Changed(f *frame.Frame) time.Duration {
	at := f.At - f.Slice
	for _, e := range f.Events {
		if e.Kind == frame.EventLoad {
			at = e.At
		}
	}
	return at
}

// finish takes, from the first Frame of another load, the requests that ended before
// the change.
func (s *stretch) finish(f *frame.Frame) {
	for i := range f.Requests {
		if r := &f.Requests[i]; r.End <= Changed(f) {
			s.addRequest(r)
		}
	}
}

// restart forgets what was gathered: figures count from now on.
func (s *stretch) restart(from time.Duration) {
	*s = stretch{load: s.load, level: s.level, began: s.began, from: from, settled: s.settled, slos: s.slos}
	s.latency = measure.NewLatencies(exactSamples)
	s.judged = make([]tally, len(s.slos))
}

// add takes a Frame of the stretch.
func (s *stretch) add(f *frame.Frame) {
	if f.Load.Settled && !s.settled {
		prior := *s
		s.settled = true
		s.restart(f.At) // what came before was the way here
		s.prior = &prior
		s.preemptions.start(f)
		return
	}
	for i := range f.Requests {
		s.addRequest(&f.Requests[i])
	}
	if f.At <= s.from || f.Stopped {
		return
	}
	held := min(f.Slice, f.At-s.from)
	s.held += held
	s.arrived += f.Client.SliceOutTokens
	s.bins.add(f.Client.SliceOutTokens, held)
	s.inFlight.Add(opt.Of(float64(f.Client.InFlight)), held)
	s.mfu.Add(f.Roofline.MFU, held)
	s.addEngine(f, held)
	s.addGPU(f, held)
	if f.Health.Bottleneck {
		s.clientBound += held
		s.clientWhy = f.Health.Why
	}
}

// addRequest takes a request that ended, if it also began in the stretch.
func (s *stretch) addRequest(r *measure.Request) {
	// A request that never got to the server has no start of its own.
	if r.Long || max(r.Start, r.Intent) < s.from || r.Class == measure.Cancelled || r.Class == measure.Loading {
		return
	}
	s.live += arrivedTokens(r)
	if r.Class != measure.OK {
		s.failed++
		if r.Class == measure.RateLimited {
			s.refused++
		}
		return
	}
	s.ok++
	s.in += r.InTokens
	s.out += r.OutTokens
	if r.InTokens == 0 {
		s.uncounted++
	}
	if r.Excluded {
		return
	}
	s.latency.Add(r)
	for i := range s.judged {
		s.judged[i].count(r, s.slos[i])
	}
	if Good(r, s.slos) {
		s.good++
	}
}

// arrivedTokens is how many tokens a request was counted with as they came: chunks,
// unless every chunk told.
func arrivedTokens(r *measure.Request) int {
	if r.Source == measure.UsagePerChunk {
		return r.OutTokens
	}
	return r.Chunks
}

// row is what the stretch amounts to.
func (s *stretch) row(confidence float64) Row {
	l := &s.latency
	r := Row{
		Load: s.load, Level: s.level, Visits: 1, Since: s.began, Settled: s.settled, Held: s.held,
		TTFT: l.TTFT.Summary(), TPOT: l.TPOT.Summary(), E2E: l.E2E.Summary(), Gap: l.Gap.Summary(), ClientQueue: l.ClientQueue.Summary(),
		InFlight: s.inFlight.Mean(), OK: s.ok, Failed: s.failed, Refused: s.refused,
		Running: s.running.Mean(), Waiting: s.waiting.Mean(), WaitingMax: s.waiting.Max(),
		KV: s.kv.Mean(), KVMax: s.kvFullest.Max(), Preemptions: s.preemptions.total(),
		SM: s.sm.Mean(), DRAM: s.dram.Mean(), Tensor: s.tensor.Mean(), MFU: s.mfu.Mean(),
		ClientBound: s.held > 0 && s.clientBound > s.held/2, ClientWhy: s.clientWhy,
		SLOs: s.results(confidence),
	}
	s.rates(&r)
	if len(s.slos) > 0 && s.ok+s.failed > 0 {
		r.GoodShare = opt.Of(float64(s.good) / float64(s.ok+s.failed))
		if s.ok > 0 {
			r.Goodput = r.RequestsPerS.Scale(float64(s.good) / float64(s.ok))
		}
	}
	return r
}

// rates go by the tokens that arrived: counting requests would miss, in a short
// stretch, up to one for each stream. What a token on arrival stands for tell the
// requests that ended: several tokens in a chunk, or none if they failed.
func (s *stretch) rates(r *Row) {
	if s.held <= 0 || s.ok == 0 {
		return
	}
	seconds := s.held.Seconds()
	worth := 1.0
	out := float64(s.out) / seconds // replies that came whole arrived all at once
	if s.live > 0 {
		worth = float64(s.out) / float64(s.live)
		out = worth * float64(s.arrived) / seconds
	}
	r.OutTokensPerS = opt.Of(out)
	r.OutputTokens = opt.Of(float64(s.out) / float64(s.ok))
	r.SlowestPerS, r.FastestPerS, r.StandardError = s.bins.spread()
	r.SlowestPerS, r.FastestPerS, r.StandardError = r.SlowestPerS.Scale(worth), r.FastestPerS.Scale(worth), r.StandardError.Scale(worth)
	if s.out > 0 {
		r.RequestsPerS = opt.Of(out / r.OutputTokens.V)
	} else {
		r.RequestsPerS = opt.Of(float64(s.ok) / seconds)
	}
	if s.uncounted == 0 {
		r.InputTokens = opt.Of(float64(s.in) / float64(s.ok))
		r.InTokensPerS = opt.Of(r.RequestsPerS.V * r.InputTokens.V)
	}
	if r.TPOT.N > 0 && r.TPOT.Mean > 0 {
		r.StreamTokensPerS = opt.Of(1000 / r.TPOT.Mean)
	}
	if asked := r.RequestsPerS.V * r.E2E.Mean / 1000; r.E2E.N > 0 && asked > 0 && r.InFlight.OK {
		r.Little = opt.Of(r.InFlight.V / asked)
	}
}

// merge adds an older stretch at the same setting.
func (s *stretch) merge(o *stretch) {
	s.held += o.held
	s.latency.Merge(&o.latency)
	for i := range s.judged {
		s.judged[i].n += o.judged[i].n
		s.judged[i].over += o.judged[i].over
	}
	s.good += o.good
	s.ok += o.ok
	s.failed += o.failed
	s.refused += o.refused
	s.in += o.in
	s.out += o.out
	s.uncounted += o.uncounted
	s.live += o.live
	s.arrived += o.arrived
	s.bins.merge(&o.bins)
	for _, m := range [][2]*opt.TimeMean{
		{&s.inFlight, &o.inFlight}, {&s.running, &o.running}, {&s.waiting, &o.waiting}, {&s.kv, &o.kv},
		{&s.kvFullest, &o.kvFullest}, {&s.sm, &o.sm}, {&s.dram, &o.dram}, {&s.tensor, &o.tensor}, {&s.mfu, &o.mfu},
	} {
		m[0].Merge(m[1])
	}
	s.preemptions.merge(&o.preemptions)
	s.clientBound += o.clientBound
	if s.clientWhy == "" {
		s.clientWhy = o.clientWhy
	}
}
