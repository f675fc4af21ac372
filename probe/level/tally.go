package level

import (
	"maps"
	"slices"

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
	level Level // as far as it takes no arithmetic: the load, counts, notes, sources

	errors Errors
	dists  dists
	flow   flow
	slos   sloTally
	engine engineTally
	gpus   gpuTally
	client clientTally
	mfu    opt.TimeMean

	readings readings // of a Tally that is alone; those of a Book share its
}

// NewTally makes one for a load that is judged by some SLOs.
func NewTally(load frame.Load, targets []slo.Target) *Tally {
	return &Tally{level: Level{Load: load, Visits: 1, Settled: true}, dists: newDists(targets), slos: newSLOTally(targets)}
}

// SetLoad says what load it is really of, once that is known.
func (t *Tally) SetLoad(load frame.Load) { t.level.Load = load }

// Skip takes a Frame from before the load was on, for the engine's last word: increases count
// from there.
func (t *Tally) Skip(f *frame.Frame) {
	t.readings.next(f)
	t.level.Sources.Notice(f)
}

// AddFrame takes the next Frame, after its requests.
func (t *Tally) AddFrame(f *frame.Frame) {
	now, before := t.readings.next(f)
	t.frame(f, now, before)
}

// Restart forgets what passed so far, except the requests that were counted.
func (t *Tally) Restart() {
	t.Span = Span{seen: t.seen}
	t.flow, t.engine, t.gpus, t.client, t.mfu = flow{}, engineTally{}, gpuTally{}, clientTally{}, opt.TimeMean{}
}

// frame takes a Frame after its requests, with the reading of the engine that it brings and
// the one before.
func (t *Tally) frame(f *frame.Frame, now, before *engine.Reading) {
	t.seen = f.At
	for i := range f.Events {
		if e := &f.Events[i]; e.Kind == frame.EventNote {
			t.level.Notes = note(t.level.Notes, e.Text)
		}
	}
	if f.Load.Replay != nil {
		t.level.Replay = f.Load.Replay
	}
	t.level.Sources.Notice(f)
	held := t.Held(f)
	t.flow.frame(f, held, &t.Span)
	if t.engine.add(now, before, held, t.saw(f, f.Engine.Reading.At)); f.Engine.State == engine.Several {
		t.engine = engineTally{} // what was read before was of several too
	}
	t.gpus.add(f, held, t.saw(f, f.GPU.At))
	t.client.add(&f.Health, f.Workers, held)
	t.mfu.Add(f.Roofline.MFU, held)
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
	if r.Class != measure.Loading {
		t.flow.add(r, &t.Span)
		t.slos.add(r, t.share(r), counts)
	}
	if !counts {
		return
	}
	t.level.Counts.Add(r)
	if r.Class == measure.Loading {
		return
	}
	if r.Class.Failed() {
		t.errors.Add(r.Class, r.Error, 1)
	}
	t.level.Tokens.add(r)
	t.level.Notes = note(t.level.Notes, r.Note)
	t.flow.count(r)
	t.dists.add(r)
}

// AddOther takes a request that ended and is in no figure.
func (t *Tally) AddOther(r *measure.Request) { t.flow.leave(r) }

// hasResults reports whether any request that counts has succeeded or failed.
func (t *Tally) hasResults() bool { return t.level.OK+t.level.Failed > 0 }

// Ended is how many of the requests that count have ended.
func (t *Tally) Ended() int { return t.level.OK + t.level.Failed + t.level.Cancelled }

// Failed is how many of them failed.
func (t *Tally) Failed() int { return t.level.Failed }

// Level is what there is so far.
func (t *Tally) Level() Level {
	d, l := t.dists.summaries(), t.level
	l.ByClass, l.Tokens.BySource, l.Notes = maps.Clone(l.ByClass), maps.Clone(l.Tokens.BySource), slices.Clone(l.Notes)
	l.From, l.Held, l.Errors = t.from, t.Length(), t.errors.List()
	l.Latencies, l.InputLengths, l.OutputLengths = d.latencies, d.tokens.Input, d.tokens.Output
	l.Turns = slices.Clone(d.turns)
	l.RequestedInputs, l.RequestedOutputs = d.tokens.RequestedInput, d.tokens.RequestedOutput
	l.Engine, l.Client, l.MFU = t.engine.figures(), t.client.figures(), t.mfu.Mean()
	t.gpus.figures(&l)
	l.Rates, l.InFlight = t.flow.rates(l.Held, &l)
	if l.TPOT.N > 0 {
		l.StreamTokensPerS = opt.Of(1000 / l.TPOT.Mean)
	}
	if expected := l.RequestsPerS.V * l.E2E.Mean / 1000; expected > 0 && l.InFlight.OK {
		l.Little = opt.Of(l.InFlight.V / expected)
	}
	t.slos.figures(&l, t)
	l.Roofline = l.Sources.judge(l.work())
	return l
}

// Detailed is the Level with its Distributions, for a file.
func (t *Tally) Detailed() Level {
	l := t.Level()
	l.Distributions = t.dists.distributions()
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
