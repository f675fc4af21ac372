package headless

import (
	"cmp"
	"io"
	"slices"
	"sync"
	"time"

	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/sweep"
)

// Keeper follows a session with a screen, or a recording of one, and holds what there is
// to save of it. It is the table of levels that the screen shows, too, so that file and
// screen have the same rows. Add is for one goroutine, the other methods for any.
type Keeper struct {
	levels *sweep.Levels
	feed   func(*frame.Frame) // of the table

	mu    sync.Mutex // Frames reach table and book together
	book  levelBook
	level int // the level that the newest Frame shows
	plan  Plan
}

// NewKeeper makes a Keeper of that table, which feed fills with Frames: a Controller's
// Add, or the table's own. Of the plan only what a Frame does not tell counts: with a
// screen nothing ends by itself.
func NewKeeper(plan Plan, levels *sweep.Levels, feed func(*frame.Frame)) *Keeper {
	plan.Requests, plan.Duration, plan.WarmupRequests, plan.WarmupFor = 0, 0, 0, 0
	return &Keeper{plan: plan, levels: levels, feed: feed, book: levelBook{plan: plan}}
}

// Add takes the next Frame.
func (k *Keeper) Add(f *frame.Frame) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.book.replace = k.levels.Replacing()
	k.feed(f)
	k.book.Add(f)
	if f.Load.Level != k.level {
		k.level = f.Load.Level
		k.book.keepOnly(k.levels.Loads())
	}
}

// Rows are the levels; see sweep.Levels.
func (k *Keeper) Rows() []sweep.Row { return k.levels.Rows() }

// SLOs are the service levels that rows are judged by.
func (k *Keeper) SLOs() []sweep.SLO { return k.levels.SLOs() }

// Replacing tells what another visit to a level does.
func (k *Keeper) Replacing() bool { return k.levels.Replacing() }

// Replace chooses it.
func (k *Keeper) Replace(yes bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.levels.Replace(yes)
}

// Summary is the outcome at the present load so far, or at the newest one before if
// nothing has ended at it.
func (k *Keeper) Summary() Summary {
	k.mu.Lock()
	defer k.mu.Unlock()
	rows := k.levels.Rows()
	slices.SortStableFunc(rows, func(a, b sweep.Row) int { return cmp.Compare(b.Level, a.Level) })
	for i := range rows {
		if r := k.book.run(rows[i].Load); r != nil && r.acc.hasResults() {
			return levelOf(r, &rows[i]).Summary
		}
	}
	empty := NewAccumulator(k.plan)
	if k.book.last != nil {
		empty.Add(k.book.last)
	}
	return empty.Summary()
}

// Report is the capacity that the levels held so far show. It judges those that differ
// from the present load in their amount only; the rest stand apart in it.
func (k *Keeper) Report() SweepSummary {
	k.mu.Lock()
	defer k.mu.Unlock()
	rows := k.levels.Rows()
	slos := k.levels.SLOs()
	s := k.book.summary(sweep.Conclude(rows, k.shape(rows), slos), slos)
	k.book.others(&s, rows)
	if last := k.book.last; last != nil && len(rows) > 0 {
		began := slices.MinFunc(rows, func(a, b sweep.Row) int { return cmp.Compare(a.Since, b.Since) }).Since
		s.DurationS = number(opt.Of((last.At - began).Seconds()))
		if started := last.Target.Started; !started.IsZero() {
			s.Started = report.Instant(started.Add(began))
		}
	}
	return s
}

// shape is the load whose curve is judged: the present one, or, where none of its curve
// has settled, the newest that has.
func (k *Keeper) shape(rows []sweep.Row) frame.Load {
	if k.book.last == nil {
		return k.plan.Load
	}
	present := k.book.last.Load.Asked
	isSettled := func(r sweep.Row) bool { return r.Settled }
	settled := slices.DeleteFunc(slices.Clone(rows), func(r sweep.Row) bool { return !r.Settled })
	if len(settled) == 0 || slices.ContainsFunc(sweep.Curve(rows, present), isSettled) {
		return present
	}
	return slices.MaxFunc(settled, func(a, b sweep.Row) int { return cmp.Compare(a.Level, b.Level) }).Load
}

// WriteBrief writes the few lines that stay on the terminal after the live screen has
// closed: one for each of the newest loads.
func (k *Keeper) WriteBrief(w io.Writer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var levels []Level
	rows := k.levels.Rows()
	for i := range rows {
		if r := k.book.run(rows[i].Load); r != nil && r.acc.hasResults() {
			levels = append(levels, levelOf(r, &rows[i]))
		}
	}
	url := ""
	if k.book.last != nil {
		url = k.book.last.Target.URL
	}
	return report.WriteBrief(w, url, levels)
}

// Save writes what there is into new files of the folder; see report.Save.
func (k *Keeper) Save(dir string, now time.Time, screen string) (string, error) {
	return report.Save(dir, k.host(), now, screen, k.Summary(), k.Report())
}

func (k *Keeper) host() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.book.last == nil {
		return ""
	}
	return k.book.last.Target.Host
}
