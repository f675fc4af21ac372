package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/units"
)

// levels finds the loads that both sides have, and their figures.
func (c *Comparison) levels(a Ask) error {
	single := true
	for _, r := range slices.Concat(a.Before, a.After) {
		single = single && len(r.Levels) == 1
	}
	if single { // whatever their loads are: a difference of them is listed
		c.Levels = append(c.Levels, levelOf(a, true, func(r *Run) *report.Level { return &r.Levels[0] }))
		return nil
	}
	before, after := loads(a.Before), loads(a.After)
	for _, load := range before {
		if !slices.Contains(after, load) {
			c.Unmatched = append(c.Unmatched, Unmatched{"before", load.String()})
			continue
		}
		c.Levels = append(c.Levels, levelOf(a, false, load.of))
	}
	for _, load := range after {
		if !slices.Contains(before, load) {
			c.Unmatched = append(c.Unmatched, Unmatched{"after", load.String()})
		}
	}
	if len(c.Levels) == 0 {
		return fmt.Errorf("the two sides have no load in common: %s before, %s after", list(before), list(after))
	}
	c.Capacity = capacity(a)
	return nil
}

// load is the amount of a load: streams in flight, or requests per second.
type load struct {
	open   bool
	amount float64
}

func loadOf(l *report.Level) load {
	if l.Load.Rate.OK {
		return load{true, l.Load.Rate.V}
	}
	return load{false, float64(l.Load.Concurrency)}
}

func (l load) String() string {
	if l.open {
		return units.Exact(l.amount) + " requests/s"
	}
	return units.Count(l.amount, "stream")
}

// of is the level of that load in a run; nil if there is none.
func (l load) of(r *Run) *report.Level {
	for i := range r.Levels {
		if loadOf(&r.Levels[i]) == l {
			return &r.Levels[i]
		}
	}
	return nil
}

// loads are those of all runs, smallest first.
func loads(runs []Run) []load {
	var out []load
	for i := range runs {
		for k := range runs[i].Levels {
			if l := loadOf(&runs[i].Levels[k]); !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	slices.SortFunc(out, func(a, b load) int {
		if a.open != b.open {
			return strings.Compare(a.String(), b.String())
		}
		return cmp.Compare(a.amount, b.amount)
	})
	return out
}

func list(loads []load) string {
	var out []string
	for _, l := range loads {
		out = append(out, l.String())
	}
	return strings.Join(out, ", ")
}

// levelOf has all figures of a load that any run knows.
func levelOf(a Ask, single bool, of func(*Run) *report.Level) Level {
	out := Level{Figures: []Figure{}}
	for i := range figures {
		f := &figures[i]
		named := slices.ContainsFunc(a.Conditions, func(c Condition) bool { return c.Figure == f.name })
		if shown := single && f.single || !single && f.levels; !shown && !named {
			continue
		}
		read := func(r *Run) reading {
			if l := of(r); l != nil {
				return f.of(l)
			}
			return reading{}
		}
		g := newFigure(f, a, read)
		g.head = f.head || named
		if g.Before.Known+g.After.Known > 0 {
			out.Figures = append(out.Figures, g)
		}
	}
	for _, r := range slices.Concat(a.Before, a.After) {
		l := of(&r)
		if l == nil {
			continue
		}
		if text := loadOf(l).String(); out.Load == "" {
			out.Load = text
		} else if out.Load != text {
			out.Load = "different loads"
			break
		}
	}
	return out
}

// newFigure reads a figure from all runs.
func newFigure(f *figure, a Ask, read func(*Run) reading) Figure {
	out := Figure{Name: f.name, ChangeIs: "difference", figure: f}
	if f.kind.ratio() {
		out.ChangeIs = "ratio"
	}
	var before, after logSeries
	out.Before, before = sideOf(f, a.Before, read)
	out.After, after = sideOf(f, a.After, read)
	if out.Before.Known > 0 && out.After.Known > 0 {
		out.Change = f.kind.change(after.moments().mean - before.moments().mean)
	}
	if out.Before.mostly() && out.After.mostly() {
		out.series = append(before, after...)
	}
	return out
}

// mostly reports whether nearly all runs have the figure. One that few have, such as a load that a
// ladder seldom tries, would widen the intervals of all others.
func (s *Side) mostly() bool { return s.Known > 0 && 4*s.Known >= 3*len(s.Values) }

// change is what a difference between two values of a series amounts to.
func (k kind) change(d float64) opt.Float {
	if k.ratio() {
		return report.RoundedShare(opt.Of(math.Expm1(d)))
	}
	return report.RoundedShare(opt.Of(d))
}

func sideOf(f *figure, runs []Run, read func(*Run) reading) (Side, logSeries) {
	s := Side{Values: []report.Number{}}
	var series logSeries
	for i := range runs {
		v := read(&runs[i])
		s.Values = append(s.Values, v.Float)
		switch {
		case !v.OK, f.kind.ratio() && v.V <= 0:
			series = append(series, math.NaN())
			continue
		case f.kind.ratio():
			series = append(series, math.Log(v.V))
		default:
			series = append(series, v.V)
		}
		s.Known++
		s.weak = s.weak || v.weak
	}
	m := series.moments()
	if s.Known > 0 {
		s.Mean = report.RoundedShare(opt.Of(m.mean))
		if f.kind.ratio() {
			s.Mean = report.RoundedShare(opt.Of(math.Exp(m.mean)))
		}
	}
	if s.Known > 1 {
		s.Spread = f.kind.change(m.deviation())
	}
	return s, series
}

// moments are those of the runs that have the figure.
func (s logSeries) moments() *moments {
	m := &moments{}
	for _, v := range s {
		if !math.IsNaN(v) {
			m.add(v)
		}
	}
	return m
}
