package bench

import (
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
)

// Phase is how far a run has come.
type Phase int

// Phases, in their order. Warmup, Settling and Loading are skipped where there
// is nothing to wait for.
const (
	Idle      Phase = iota // no load yet
	Loading                // the server is still loading its model
	Warmup                 // requests that are excluded from results
	Settling               // the warm-up drains
	Measuring              // the window is open
	Draining               // nothing new is sent, streams in flight go on
	Cutting                // the drain took too long or was interrupted: streams are cancelled
	Done
)

// loadingLimit ends a run on a server that never gets ready.
const loadingLimit = 30 * time.Minute

// waitLimit is the longest wait requested by the server that a run by number sits out:
// quotas per minute are within it, those per hour or day are not.
const waitLimit = 5 * time.Minute

// cutFor is how long cancelled streams may take to report their end.
const cutFor = 2 * time.Second

// Window turns the Frames of one run into its Outcome: a level whose span is planned. It is
// fed every Frame once, in order, and belongs to one goroutine. All instants are durations
// since the session began.
type Window struct {
	plan  Plan
	out   Outcome // what is known besides the Level and the verdicts
	tally *level.Tally
	judge *diagnose.Judge
	phase Phase

	loadAt  time.Duration // the load was switched on
	origin  time.Duration // warm-up and window count from here
	cutAt   time.Duration
	drained bool           // a whole Frame has passed since the window closed
	seen    time.Duration  // end of the newest Frame
	lastEnd time.Duration  // end of the newest measured request
	tooLong map[string]int // refusals of prompts that are too long, by message

	runner  Runner // nil: the Frames are of a recording
	granted int    // requests allowed when the budget was set last; −1 = no limit
	sentAt  int    // requests sent until then
	sent    int    // requests sent in all, as of the newest Frame
}

// NewWindow starts an empty run of that plan.
func NewWindow(plan Plan) *Window {
	return &Window{
		plan: plan, out: Outcome{Plan: plan}, tally: level.NewTally(plan.Load, plan.SLOs), judge: newJudge(), tooLong: map[string]int{},
	}
}

// Phase is how far the run has come with the Frames so far.
func (w *Window) Phase() Phase { return w.phase }

// Outcome is what there is so far.
func (w *Window) Outcome() Outcome {
	o := w.out
	o.Level, o.Verdicts, o.Incidents = w.tally.Detailed(), w.judge.Verdicts(), w.judge.Incidents()
	return o
}

// enter goes on to another phase, and carries out on the session what it needs.
func (w *Window) enter(p Phase) {
	w.phase = p
	switch p {
	case Measuring:
		if w.plan.hasWarmup() {
			w.grant(w.plan.measuredBudget())
		}
	case Settling, Draining:
		w.grant(0)
	case Cutting:
		if w.runner != nil {
			w.runner.Abort()
		}
	}
}

// grant allows so many more requests; −1 is no limit.
func (w *Window) grant(n int) {
	w.granted, w.sentAt = n, w.sent
	if w.runner != nil {
		w.runner.SetBudget(n)
	}
}

// skip takes a Frame from before the run.
func (w *Window) skip(f *frame.Frame) {
	w.seen, w.sent = f.At, f.Client.Sent
	w.tally.Skip(f)
}

// Add takes the next Frame.
func (w *Window) Add(f *frame.Frame) {
	w.begin(f)
	if w.phase == Idle {
		w.skip(f)
		return
	}
	w.sent = f.Client.Sent
	w.tally.NoteStop(f)
	for i := range f.Requests {
		w.addRequest(&f.Requests[i])
	}
	w.tally.AddFrame(f)
	if w.phase == Measuring && w.tally.Held(f) > 0 {
		w.judge.Add(f)
	}
	w.advance(f)
}

// begin notices the load being switched on.
func (w *Window) begin(f *frame.Frame) {
	if w.phase == Idle && !f.Load.Requested.IsIdle() {
		w.tally.SetLoad(f.Load.Requested) // as it was brought into range
		w.loadAt = level.Changed(f)
		w.startAt(w.loadAt)
	}
}

// startAt fixes the origin, and with it the window wherever that follows.
func (w *Window) startAt(at time.Duration) {
	w.origin = at
	w.enter(Warmup)
	switch {
	case !w.plan.hasWarmup():
		w.measureFrom(at)
	case !w.plan.warmupDrains():
		w.openAt(at + w.plan.WarmupFor)
	}
}

// openAt fixes where the window begins, and where it ends by the clock.
func (w *Window) openAt(at time.Duration) {
	w.tally.Open(at)
	if w.plan.Duration > 0 {
		w.tally.PlanEnd(at + w.plan.Duration)
	}
}

// addRequest takes one request that ended.
func (w *Window) addRequest(r *measure.Request) {
	if r.Intent < w.loadAt || r.Long {
		w.tally.AddOther(r)
		return
	}
	if r.Class == measure.Loading {
		w.tally.AddRequest(r, true)
		w.foundLoading()
		return
	}
	if r.Class == measure.OK {
		w.succeeded(r)
	}
	warmup := w.plan.hasWarmup() && (!w.tally.Opened() || r.Intent < w.tally.From())
	w.tally.AddRequest(r, !warmup)
	if warmup {
		w.out.Warmup++
		return
	}
	w.lastEnd = max(w.lastEnd, r.End)
	if w.refusesPrompt(r) {
		w.close(r.End)
	}
}

// foundLoading takes the origin back: while the server loads its model nothing is measured.
func (w *Window) foundLoading() {
	if w.out.Ready || w.phase == Loading || w.phase > Measuring {
		return
	}
	w.enter(Loading)
	w.tally.Restart()
	w.judge = newJudge()
}

// succeeded notes a success; the first one after a time of loading is where the clock starts.
func (w *Window) succeeded(r *measure.Request) {
	w.out.Ready = true
	if w.phase == Loading {
		w.startAt(r.Start)
	}
}

const (
	// tooLongLimit ends a run whose prompts do not fit the model.
	tooLongLimit = 3
	// maxRefusals bounds the distinct messages that are kept of such refusals.
	maxRefusals = 100
)

// refusesPrompt reports, once, that the server has refused prompts as too long often
// enough with the same words: more of them would say nothing new.
func (w *Window) refusesPrompt(r *measure.Request) bool {
	if r.Class != measure.ContextLength || r.Turn > 1 || w.out.Refused || len(w.tooLong) >= maxRefusals && w.tooLong[r.Error] == 0 {
		return false
	}
	w.tooLong[r.Error]++
	if w.tooLong[r.Error] < tooLongLimit {
		return false
	}
	w.out.Refused, w.out.TooLong = true, r.Error
	return true
}

// Interrupt ends the window early: the streams in flight are cancelled, and the
// Outcome says that it is of a part only.
func (w *Window) Interrupt() {
	if w.phase == Done {
		return
	}
	w.out.Interrupted = true
	w.close(w.seen)
	w.cut(w.seen)
}

// topUp replaces requests that used up the budget and counted for nothing: the refusals of a
// server that is still loading.
func (w *Window) topUp(f *frame.Frame) {
	missing := 0
	switch {
	case w.phase == Warmup || w.phase == Loading && w.plan.WarmupRequests > 0:
		missing = w.plan.WarmupRequests - w.out.Warmup
	case w.phase == Measuring || w.phase == Loading:
		missing = w.plan.Requests - w.tally.Ended()
	}
	if missing > 0 && w.granted > 0 && w.sent-w.sentAt >= w.granted && f.Client.InFlight == 0 {
		w.grant(missing)
	}
}

// Progress is where a run stands.
type Progress struct {
	Phase          Phase
	Elapsed, Of    time.Duration // of the window so far; planned, 0 = no limit
	Ended, OfEnded int           // measured requests that ended; planned, 0 = no limit
	InFlight       int
	Failed         int
	OutTokensPerS  float64 // over the live window
}

func (w *Window) progress(f *frame.Frame) Progress {
	return Progress{
		Phase: w.phase, Elapsed: w.tally.Length(), Of: w.plan.Duration, Ended: w.tally.Ended(), OfEnded: w.plan.Requests,
		InFlight: f.Client.InFlight, Failed: w.tally.Failed(), OutTokensPerS: f.Client.OutTokensPerS,
	}
}
