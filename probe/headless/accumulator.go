package headless

import (
	"slices"
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// Accumulator turns the Frames of one run into its Summary. It is fed every
// Frame once, in order, and belongs to one goroutine.
type Accumulator struct {
	plan  Plan
	time  timeline
	first *frame.Frame // the first Frame with load
	last  *frame.Frame

	interrupted bool
	counts      counts
	latency     measure.Latencies
	flow        flow
	slo         sloJudge
	engine      engineWindow
	gpus        gpuWindow
	client      clientWindow
	judge       *diagnose.Judge
	judged      []diagnose.Verdict // as they stood when the judge was let go; nil while it judges
	notes       notes
}

// NewAccumulator starts an empty run of that plan.
func NewAccumulator(plan Plan) *Accumulator {
	return &Accumulator{
		plan:    plan,
		time:    timeline{plan: plan},
		counts:  newCounts(),
		latency: measure.NewLatencies(exactSamples),
		slo:     sloJudge{slos: plan.SLOs},
		judge:   diagnose.New(),
	}
}

// Phase is how far the run has come with the Frames so far.
func (a *Accumulator) Phase() Phase { return a.time.phase }

// Deadline is the next instant, since the session began, at which a phase ends
// by the clock.
func (a *Accumulator) Deadline() (time.Duration, bool) { return a.time.deadline() }

// hasResults tells whether any request has ended.
func (a *Accumulator) hasResults() bool { return a.counts.requests.Sent > 0 }

// Add takes the next Frame.
func (a *Accumulator) Add(f *frame.Frame) {
	a.time.begin(f)
	a.time.noteStop(f)
	if a.time.phase != Idle && a.first == nil {
		a.first = f
	}
	a.last = f
	for i := range f.Requests {
		a.addRequest(&f.Requests[i])
	}
	a.addFrame(f)
	a.time.advance(f)
}

// addFrame takes what a Frame says about the engine, the GPUs and ourselves.
func (a *Accumulator) addFrame(f *frame.Frame) {
	for _, e := range f.Events {
		if e.Kind == frame.EventNote && a.time.phase != Idle {
			a.notes.add(e.Text)
		}
	}
	from, to := a.time.clip(f.At-f.Slice, f.At)
	weight := to - from
	a.engine.add(f, weight, a.time.saw(f, f.Engine.Reading.At))
	if weight == 0 || f.Stopped {
		return
	}
	a.gpus.add(f, weight, a.time.saw(f, f.GPU.At))
	a.client.add(f.Health, weight)
	if a.time.phase == Measuring {
		a.judge.Add(f)
		a.judged = nil
	}
}

// rest keeps what the judge has found and lets go of the Frames that it holds: levels
// that were left are many.
func (a *Accumulator) rest() {
	if a.judged == nil {
		a.judged, a.judge = a.judge.Verdicts(), diagnose.New()
	}
}

// verdicts are what the judge has found.
func (a *Accumulator) verdicts() []diagnose.Verdict {
	if a.judged != nil {
		return slices.Clone(a.judged)
	}
	return a.judge.Verdicts()
}

// addRequest takes one request that ended.
func (a *Accumulator) addRequest(r *measure.Request) {
	if r.Long || !a.time.ofRun(r) {
		return
	}
	if r.Class == measure.Loading {
		a.counts.addLoading()
		if a.time.foundLoading() {
			a.restartWindow()
		}
		return
	}
	if r.Class == measure.OK {
		a.time.succeeded(r)
	}
	a.flow.add(r, &a.time)
	warmup := a.time.warmup(r)
	a.slo.add(r, a.time.share(r), !warmup)
	if warmup {
		a.time.warmupEnded++
	} else {
		a.time.ended++
		a.time.lastEnd = max(a.time.lastEnd, r.End)
		a.addMeasured(r)
	}
	if a.counts.tooLong(r) {
		a.time.close(r.End)
	}
}

// addMeasured takes a request that is in the counts.
func (a *Accumulator) addMeasured(r *measure.Request) {
	a.counts.add(r)
	a.notes.add(r.Note)
	a.latency.Add(r)
}

// restartWindow forgets what was seen before the server was ready.
func (a *Accumulator) restartWindow() {
	a.engine.restart()
	a.gpus = gpuWindow{}
	a.client = clientWindow{}
	a.flow = flow{}
	a.judge, a.judged = diagnose.New(), nil
}

// Interrupt ends the window early: the streams in flight are cancelled, and the
// Summary says that it is of a part only.
func (a *Accumulator) Interrupt() {
	if a.time.phase == Done {
		return
	}
	a.interrupted = true
	a.time.close(a.time.seen)
	a.time.cut(a.time.seen)
}

// Remaining is how many requests of the current phase have not ended yet; it
// is not known (false) for a phase that is not counted.
func (a *Accumulator) Remaining() (int, bool) {
	t := &a.time
	switch {
	case t.phase == Warmup || t.phase == Loading && a.plan.WarmupRequests > 0:
		return max(0, a.plan.WarmupRequests-t.warmupEnded), a.plan.WarmupRequests > 0
	case t.phase == Measuring || t.phase == Loading:
		return max(0, a.plan.Requests-t.ended), a.plan.Requests > 0
	}
	return 0, false
}
