package bench

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/sweep"
)

// Keeper follows a session, or a recording of one, and adds to the Book of its levels the
// verdicts on each of them. Add is for one goroutine, the other methods for any.
type Keeper struct {
	plan Plan
	book *level.Book
	feed func(*frame.Frame) // of the Book

	mu      sync.Mutex
	found   findings
	sources level.Sources // as the newest Frame shows them
	load    frame.Load
	at      time.Duration
	any     bool // a Frame was seen
}

// NewKeeper makes a Keeper of that Book, which feed fills with Frames: a Controller's Add, or
// the Book's own. Of the plan only what a Frame does not show counts: nothing ends by itself.
func NewKeeper(plan Plan, book *level.Book, feed func(*frame.Frame)) *Keeper {
	plan.Requests, plan.Duration, plan.WarmupRequests, plan.WarmupFor = 0, 0, 0, 0
	return &Keeper{plan: plan, book: book, feed: feed}
}

// Add takes the next Frame.
func (k *Keeper) Add(f *frame.Frame) {
	k.feed(f)
	k.mu.Lock()
	defer k.mu.Unlock()
	id := k.book.Counting()
	if f.Stopped && id == k.found.id {
		return
	}
	k.found.add(f, id)
	k.sources.Notice(f)
	k.load, k.at, k.any = f.Load.Requested, f.At, true
}

// Outcome is what the present load amounts to so far, or the newest one before if nothing
// has ended at it.
func (k *Keeper) Outcome() Outcome {
	all := k.Outcomes()
	if len(all) == 0 {
		return k.nothing()
	}
	return slices.MaxFunc(all, func(a, b Outcome) int { return cmp.Compare(a.Level.Number, b.Level.Number) })
}

// planned is the plan with the SLOs of now: the screen can change them.
func (k *Keeper) planned() Plan {
	p := k.plan
	p.SLOs = k.book.SLOs()
	return p
}

// Outcomes are those of all loads at which a request has ended.
func (k *Keeper) Outcomes() []Outcome {
	levels := slices.DeleteFunc(k.book.Detailed(), func(l level.Level) bool { return l.Sent == 0 })
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.outcomes(levels)
}

// outcomes adds to levels what else is known. The lock is held.
func (k *Keeper) outcomes(levels []level.Level) []Outcome {
	out := make([]Outcome, 0, len(levels))
	for i := range levels {
		l := &levels[i]
		found := k.found.on(l.ID)
		out = append(out, Outcome{Plan: k.planned(), Level: *l, Verdicts: found.verdicts, Incidents: found.incidents, Ready: l.OK > 0})
	}
	return out
}

// nothing is the outcome where nothing has ended.
func (k *Keeper) nothing() Outcome {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := Outcome{Plan: k.planned(), Level: level.Level{Load: k.plan.Load, Sources: k.sources}, Verdicts: k.found.on(0).verdicts}
	if k.any && k.load.Concurrency > 0 {
		o.Level.Load = k.load
	}
	return o
}

// SweepOutcome is what a ladder of loads amounts to, or the levels of a session.
type SweepOutcome struct {
	Plan   Plan
	Result sweep.Result
	Levels []Outcome // along the Result's curve
	Others []Outcome // that are not on the curve: other lengths, another loop
	None   Outcome   // what was requested of whom, where there is no level

	Began, Lasted time.Duration // since the session began
	Status        sweep.Status  // of the sweep; Idle if there was none
	Interrupted   bool
}

// Sweep is what the levels held so far show. It judges those that differ from the present
// load in their amount only; the rest stand apart in it.
func (k *Keeper) Sweep() SweepOutcome {
	levels := k.book.Detailed()
	s := k.conclude(sweep.Conclude(levels, k.shape(levels), len(k.book.SLOs()) > 0))
	k.mu.Lock()
	defer k.mu.Unlock()
	onCurve := func(l level.Level) bool {
		return slices.ContainsFunc(s.Result.Curve, func(c level.Level) bool { return c.ID == l.ID })
	}
	if len(levels) > 0 {
		s.Began = slices.MinFunc(levels, func(a, b level.Level) int { return cmp.Compare(a.Since, b.Since) }).Since
		s.Lasted = k.at - s.Began
	}
	s.Others = k.outcomes(slices.DeleteFunc(levels, onCurve))
	return s
}

// conclude joins the levels of a curve with what else is known of them.
func (k *Keeper) conclude(res sweep.Result) SweepOutcome {
	none := k.nothing()
	k.mu.Lock()
	defer k.mu.Unlock()
	return SweepOutcome{Plan: k.planned(), Result: res, Levels: k.outcomes(res.Curve), None: none}
}

// shape is the load whose curve is judged: the present one, or, where none of its curve
// has settled, the newest that has.
func (k *Keeper) shape(levels []level.Level) frame.Load {
	k.mu.Lock()
	present := k.load
	if !k.any {
		present = k.plan.Load
	}
	k.mu.Unlock()
	isSettled := func(l level.Level) bool { return l.Settled }
	if slices.ContainsFunc(level.Curve(levels, present), isSettled) {
		return present
	}
	newest, any := level.Level{Load: present}, false
	for i := range levels {
		if l := &levels[i]; l.Settled && (!any || l.Number >= newest.Number) {
			newest, any = *l, true
		}
	}
	return newest.Load
}

// Source is the server as it showed last.
func (k *Keeper) Source() frame.Target {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sources.Target
}

// findings keep the verdicts on each level: those of the Frames that count for it.
type findings struct {
	id    int // of the level that is judged; 0: none
	judge *diagnose.Judge
	past  map[int]judged // of the levels that were left
}

// judged is what a judge found on a level.
type judged struct {
	verdicts  []diagnose.Verdict
	incidents []diagnose.Incident
}

// maxFindings bounds the levels whose verdicts are kept; the oldest go.
const maxFindings = 1024

// add takes a Frame that counts for a level; 0 is none.
func (s *findings) add(f *frame.Frame, id int) {
	if id != s.id {
		s.rest()
		s.id = id
	}
	if id == 0 {
		return
	}
	if s.judge == nil {
		s.judge = newJudge()
	}
	s.judge.Add(f)
}

// newJudge makes a Judge of one load.
func newJudge() *diagnose.Judge {
	j := diagnose.New()
	j.Share(nil)
	return j
}

// rest keeps what was found, and lets go of the Frames that the judge holds.
func (s *findings) rest() {
	if s.judge == nil {
		return
	}
	if s.past == nil {
		s.past = map[int]judged{}
	}
	s.past[s.id], s.judge = judged{s.judge.Verdicts(), s.judge.Incidents()}, nil
	for len(s.past) > maxFindings {
		oldest := s.id
		for id := range s.past {
			oldest = min(oldest, id)
		}
		delete(s.past, oldest)
	}
}

// on returns what was found on a level.
func (s *findings) on(id int) judged {
	if s.judge != nil && s.id == id {
		return judged{s.judge.Verdicts(), s.judge.Incidents()}
	}
	if v, known := s.past[id]; known {
		return v
	}
	return judged{verdicts: diagnose.New().Verdicts()} // nothing has been seen
}
