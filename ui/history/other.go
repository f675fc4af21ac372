package history

import (
	"math"
	"slices"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Other is another run, shown beside the one that a History is of.
type Other struct {
	Name     string
	Levels   []level.Level
	Timeline *Timeline // nil: no more than its levels is known

	columns map[int]*Column // by index of the level
}

// Window is what the live window held in a column, or a level as a whole.
type Window struct {
	TTFT, TPOT, Gap  measure.Summary
	OutPerS, InPerS  opt.Float
	KV, SM, DRAM     opt.Float
	Running, Waiting opt.Float
}

// NewOther is the other run.
func NewOther(name string, levels []level.Level, timeline *Timeline) *Other {
	o := &Other{Name: name, Levels: levels, Timeline: timeline, columns: map[int]*Column{}}
	for i := range levels {
		o.columns[i] = columnOf(&levels[i])
	}
	return o
}

// columnOf draws a level as a stretch of time.
func columnOf(l *level.Level) *Column {
	c := &Column{
		Window: &Window{
			TTFT: l.TTFT, TPOT: l.TPOT, Gap: l.Gap, OutPerS: l.OutTokensPerS, InPerS: l.InTokensPerS,
			KV: l.Engine.KV, SM: l.SM, DRAM: l.DRAM, Running: l.Engine.Running, Waiting: l.Engine.Waiting,
		},
		seconds: 1, in: l.InTokensPerS.Or(math.NaN()), out: l.OutTokensPerS.Or(math.NaN()),
		gapP50: l.Gap.Value(l.Gap.P50), gapP99: l.Gap.Value(l.Gap.P99),
	}
	for i := range c.Dots {
		c.Dots[i] = Dot{l.TTFT, l.TPOT}
	}
	for mean, value := range map[*opt.TimeMean]opt.Float{
		&c.KV: l.Engine.KV, &c.Running: l.Engine.Running, &c.Waiting: l.Engine.Waiting, &c.SM: l.SM, &c.DRAM: l.DRAM,
	} {
		mean.Add(value, time.Second)
	}
	return c
}

// At is the other run's level at the amount of a load, one at the same lengths if there is one;
// nil if there is none.
func (o *Other) At(l frame.Load) *level.Level {
	if i := o.indexAt(l); i >= 0 {
		return &o.Levels[i]
	}
	return nil
}

func (o *Other) indexAt(l frame.Load) int {
	found := -1
	for i := range o.Levels {
		r := &o.Levels[i]
		if (r.Load.Rate > 0) != (l.Rate > 0) || r.Amount() != level.Amount(l) {
			continue
		}
		if level.Comparable(r.Load, l) {
			return i
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

// Timed reports whether the run can be aligned by time.
func (o *Other) Timed() bool { return o.Timeline != nil }

// Beside are its columns beside the newest n of a History, an empty one where it has none:
// those at the same time since the load began, or the level at the same load.
func (o *Other) Beside(h *History, n int, byLevel bool) []*Column {
	shown := h.Last(n)
	number := h.first + int64(len(h.columns)-len(shown))
	columns := make([]*Column, len(shown))
	for i, c := range shown {
		columns[i] = o.beside(h, c, number+int64(i), byLevel || !o.Timed())
	}
	return columns
}

var empty = &Column{Window: &Window{}}

func (o *Other) beside(h *History, own *Column, number int64, byLevel bool) *Column {
	switch {
	case !byLevel:
		if began, known := h.LoadBegan(); known {
			return o.Timeline.at(time.Duration(number)*h.Width - began.Truncate(h.Width))
		}
	case own.load != nil:
		if i := o.indexAt(*own.load); i >= 0 {
			return o.columns[i]
		}
	}
	return empty
}

// Timeline is the columns of a run since its load began. It is fed Frames in order and
// keeps less of each column than a History: no streams, no single gaps.
type Timeline struct {
	history *History
	columns []*Column // all but the last are final
}

// mostColumns bounds the memory: four hours at 1 s, about 15 MB.
const mostColumns = 4 * 3600

// NewTimeline is an empty one.
func NewTimeline(width time.Duration) *Timeline { return &Timeline{history: New(width)} }

// Add takes the next Frame.
func (t *Timeline) Add(f *frame.Frame) {
	h := t.history
	h.Fold(f)
	began, known := h.LoadBegan()
	if !known {
		return
	}
	at := int(h.first + int64(len(h.columns)) - 1 - int64(began/h.Width))
	if at < 0 || at >= mostColumns {
		return
	}
	for len(t.columns) <= at {
		t.columns = append(t.columns, empty)
	}
	c := h.open()
	c.Window = windowOf(f, c)
	t.columns[at] = c.thin()
}

func windowOf(f *frame.Frame, col *Column) *Window {
	c := &f.Client
	w := &Window{TTFT: c.TTFT, TPOT: c.TPOT, Gap: c.Gap,
		KV: col.KV.Mean(), SM: col.SM.Mean(), DRAM: col.DRAM.Mean(), Running: col.Running.Mean(), Waiting: col.Waiting.Mean()}
	if c.Window > 0 {
		w.OutPerS, w.InPerS = opt.Of(c.OutTokensPerS), opt.Of(c.InTokensPerS)
	}
	return w
}

// thin is a copy without what takes memory.
func (c *Column) thin() *Column {
	t := *c
	t.gapP50, t.gapP99 = c.GapMS(0.50), c.GapMS(0.99)
	t.Gaps, t.Streams = Gaps{}, nil
	return &t
}

// Snapshot is the timeline as it is now, for readers elsewhere.
func (t *Timeline) Snapshot() *Timeline {
	return &Timeline{history: &History{Width: t.history.Width}, columns: slices.Clone(t.columns)}
}

// at is the column at that time since the load began.
func (t *Timeline) at(since time.Duration) *Column {
	if i := int(since / t.history.Width); since >= 0 && i < len(t.columns) {
		return t.columns[i]
	}
	return empty
}
