package level

import (
	"slices"
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/roofline"
	"sonde/probe/slo"
)

// Tally gathers what happens within a Span. Who feeds it says which requests count; all
// that end may reach into the Span.
type Tally struct {
	Span
	id      int
	load    frame.Load
	number  int
	visits  int
	since   time.Duration
	settled bool

	counts  counts
	dists   dists
	flow    flow
	slos    sloTally
	engine  engineTally
	gpus    gpuTally
	client  clientTally
	mfu     opt.TimeMean
	notes   notes
	sources Sources

	readings readings // of a Tally that is alone; those of a Book share its
}

// NewTally makes one for a load that is judged by some SLOs.
func NewTally(load frame.Load, targets []slo.Target) *Tally {
	return &Tally{load: load, visits: 1, settled: true, dists: newDists(targets), slos: newSLOTally(targets)}
}

// SetLoad says what load it is really of, once that is known.
func (t *Tally) SetLoad(load frame.Load) { t.load = load }

// Skip takes a Frame from before the load was on, for the engine's last word: increases count
// from there.
func (t *Tally) Skip(f *frame.Frame) {
	t.readings.next(f)
	t.sources.Notice(f)
}

// AddFrame takes the next Frame, after its requests.
func (t *Tally) AddFrame(f *frame.Frame) { t.frame(f, t.readings.next(f)) }

// Restart forgets what passed so far, except the requests that were counted.
func (t *Tally) Restart() {
	t.Span = Span{seen: t.seen}
	t.flow, t.engine, t.gpus, t.client, t.mfu = flow{}, engineTally{}, gpuTally{}, clientTally{}, opt.TimeMean{}
}

// frame takes a Frame after its requests. s is what it brings of the engine.
func (t *Tally) frame(f *frame.Frame, s step) {
	t.seen = f.At
	t.notice(f)
	held := t.Held(f)
	t.flow.frame(f, held, &t.Span)
	if t.engine.add(s, held, t.saw(f, f.Engine.Reading.At)); f.Engine.State == engine.Several {
		t.engine = engineTally{} // what was read before was of several too
	}
	t.gpus.add(f, held, t.saw(f, f.GPU.At))
	t.client.add(&f.Health, held)
	t.mfu.Add(f.Roofline.MFU, held)
}

// notice keeps what the Frame says of the server and the hardware.
func (t *Tally) notice(f *frame.Frame) {
	for i := range f.Events {
		if e := &f.Events[i]; e.Kind == frame.EventNote {
			t.notes.add(e.Text)
		}
	}
	t.sources.Notice(f)
}

// Notice takes over what the Frame shows: of the engine's reading only what says how it was
// started.
func (s *Sources) Notice(f *frame.Frame) {
	s.Target, s.GPU = f.Target, f.GPU
	s.limits = f.Limits
	if id := &f.Engine.Identity; id.Kind != "" || id.Model != "" {
		s.Identity = *id
	}
	if r, fresh := f.FreshEngine(); fresh {
		s.Read = true
		s.Settings = engine.Reading{
			MaxModelLen: r.MaxModelLen, MaxRunning: r.MaxRunning, Ranks: r.Ranks, KVCapacityTokens: r.KVCapacityTokens,
			KVCapacityBlocks: r.KVCapacityBlocks, KVBlockTokens: r.KVBlockTokens, Settings: r.Settings,
			Replicas: r.Replicas, Gone: r.Gone,
		}
	}
	s.Engine, s.EngineWhy = f.Engine.State, f.Engine.Why
	s.Read = s.Read && s.Engine != engine.Several
	s.LastRead, s.Unread = f.Engine.Reading.At, 0
	if _, fresh := f.FreshEngine(); !fresh {
		s.Unread, _ = f.Age(s.LastRead)
	}
}

// AddRequest takes a request that ended. Whatever of it lies in the span is part of the
// rates; one that counts is part of everything. A long prompt that was fired on purpose is in
// no figure.
func (t *Tally) AddRequest(r *measure.Request, counts bool) {
	t.flow.leave(r)
	if r.Long {
		return
	}
	if r.Class == measure.Loading {
		if counts {
			t.counts.addLoading()
		}
		return
	}
	t.flow.add(r, &t.Span)
	t.slos.add(r, t.share(r), counts)
	if !counts {
		return
	}
	t.counts.add(r)
	t.flow.count(r)
	t.notes.add(r.Note)
	t.dists.add(r)
}

// AddOther takes a request that ended and is in no figure.
func (t *Tally) AddOther(r *measure.Request) { t.flow.leave(r) }

// hasResults reports whether any request that counts has succeeded or failed.
func (t *Tally) hasResults() bool { return t.counts.requests.OK+t.counts.requests.Failed > 0 }

// Ended is how many of the requests that count have ended.
func (t *Tally) Ended() int { return t.counts.requests.OK + t.Failed() + t.counts.requests.Cancelled }

// Failed is how many of them failed.
func (t *Tally) Failed() int { return t.counts.requests.Failed }

// Level is what there is so far.
func (t *Tally) Level() Level {
	requests, tokens := t.counts.copies()
	d := t.dists.summaries()
	l := Level{
		ID: t.id, Load: t.load, Number: t.number, Visits: t.visits, Since: t.since, From: t.from, Settled: t.settled, Held: t.Length(),
		Counts: requests, Errors: t.counts.errors.List(), Tokens: tokens,
		Latencies: d.latencies, InputLengths: d.input, OutputLengths: d.output,
		Engine: t.engine.figures(), Client: t.client.figures(), MFU: t.mfu.Mean(),
		Notes: slices.Clone(t.notes.list), Sources: t.sources,
	}
	t.gpus.figures(&l)
	l.Rates, l.InFlight = t.flow.rates(l.Held, &t.counts)
	if l.TPOT.N > 0 && l.TPOT.Mean > 0 {
		l.StreamTokensPerS = opt.Of(1000 / l.TPOT.Mean)
	}
	if expected := l.RequestsPerS.V * l.E2E.Mean / 1000; l.E2E.N > 0 && expected > 0 && l.InFlight.OK {
		l.Little = opt.Of(l.InFlight.V / expected)
	}
	t.slos.figures(&l, t)
	l.Roofline = t.sources.judge(l.work())
	return l
}

// judge says what the hardware allows at least for what was measured.
func (s *Sources) judge(w roofline.Work) roofline.Bounds {
	f := frame.Frame{Target: s.Target, Engine: engine.Status{Identity: s.Identity}, GPU: s.GPU, Limits: s.limits}
	return f.Judge(w)
}

// work is what was measured, for judging it by a roofline.
func (l *Level) work() roofline.Work {
	t := &l.Tokens
	w := roofline.Work{Batch: l.Engine.Running, Output: ratio(t.Output, l.OK), InPerS: l.InTokensPerS, OutPerS: l.OutTokensPerS}
	if !w.Batch.OK {
		w.Batch = l.InFlight
	}
	if t.Uncounted == 0 {
		w.Input, w.Cached = ratio(t.Input, l.OK), ratio(t.CachedInput, t.Input)
	}
	if t.CachedInput == 0 { // usage does not always say
		w.Cached = l.Engine.PrefixHitRate
	}
	if l.TPOT.N > 0 {
		w.TPOTMS = opt.Of(l.TPOT.Mean)
	}
	return w
}
