// Package compare sets runs before a change against runs after it: what differs, by how much, and
// how sure that is.
package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/units"
)

// Schema names the form of a Comparison in files.
const Schema = "sonde/compare/1"

// Run is one file of results.
type Run struct {
	Name string
	*report.File
}

// Ask is what is to be compared.
type Ask struct {
	Before, After []Run // at least one each
	Conditions    []Condition
}

// Comparison is the outcome. What is unknown is null in JSON.
type Comparison struct {
	Schema      string            `json:"schema"`
	Before      []string          `json:"before"` // names of the runs
	After       []string          `json:"after"`
	Comparable  bool              `json:"comparable"`  // the same work was done by the same model
	Differences []Difference      `json:"differences"` // in what was measured
	Doubts      []Doubt           `json:"doubts"`      // about single runs
	CanShow     bool              `json:"can_show"`    // runs enough to show a difference
	Runs        string            `json:"runs"`        // what their number allows to say
	Levels      []Level           `json:"levels"`
	Unmatched   []Unmatched       `json:"unmatched"` // loads that one side lacks
	Capacity    []Figure          `json:"capacity"`  // of sweeps: knee, largest load within the SLOs
	Conditions  []ConditionResult `json:"conditions"`

	n, m int
}

// Level is one load on both sides.
type Level struct {
	Load    string   `json:"load"`
	Figures []Figure `json:"figures"`
}

// Unmatched is a load of one side only.
type Unmatched struct {
	Side string `json:"side"`
	Load string `json:"load"`
}

// Side is a figure over the runs of one side.
type Side struct {
	Known  int             `json:"known"`  // runs that have it
	Mean   report.Number   `json:"mean"`   // of the runs; the geometric one where changes are ratios
	Spread report.Number   `json:"spread"` // standard deviation of the runs, in the unit of the change
	Values []report.Number `json:"values"` // by run
	weak   bool
}

// Figure is one figure on both sides. Where changes are ratios 0.05 is 5 % more; else a change
// is the difference.
type Figure struct {
	Name     string        `json:"name"`
	Before   Side          `json:"before"`
	After    Side          `json:"after"`
	ChangeIs string        `json:"change_is"` // "ratio" or "difference"
	Change   report.Number `json:"change"`
	Low      report.Number `json:"low"` // the intervals of all changes hold together with 95 %
	High     report.Number `json:"high"`
	P        report.Number `json:"p"`       // corrected for the number of figures
	Differs  bool          `json:"differs"` // a difference is shown
	Effect   report.Text   `json:"effect"`  // then "better", "worse" or "changed"

	figure *figure
	series logSeries // nil: too few runs have it
	head   bool      // judged first
}

// Compare compares. An error is about the Ask.
func Compare(a Ask) (Comparison, error) {
	c := Comparison{
		Schema: Schema, Differences: []Difference{}, Doubts: []Doubt{}, Levels: []Level{}, Unmatched: []Unmatched{}, Capacity: []Figure{},
		Conditions: []ConditionResult{}, n: len(a.Before), m: len(a.After),
	}
	if c.n == 0 || c.m == 0 {
		return c, errors.New("compare needs runs on both sides")
	}
	for _, side := range []struct {
		runs []Run
		into *[]string
	}{{a.Before, &c.Before}, {a.After, &c.After}} {
		if twice := repeated(side.runs); twice != "" {
			return c, errors.New(twice)
		}
		for i := range side.runs {
			*side.into = append(*side.into, side.runs[i].Name)
			if len(side.runs[i].Levels) == 0 {
				return c, fmt.Errorf("%s has no level at which a request ended", side.runs[i].Name)
			}
		}
	}
	c.Differences, c.Comparable = differences(a)
	c.Doubts = doubts(a)
	if err := c.levels(a); err != nil {
		return c, err
	}
	c.test()
	for i := range a.Conditions {
		c.Conditions = append(c.Conditions, a.Conditions[i].judge(&c))
	}
	return c, nil
}

// repeated finds a run that is on one side twice: it would look as if runs never scattered.
func repeated(runs []Run) string {
	for i := range runs {
		for k := range runs[:i] {
			a, b := &runs[k], &runs[i]
			if !a.Started.IsZero() && a.Started.Equal(b.Started.Time) && a.Seed == b.Seed && a.DurationS == b.DurationS {
				return fmt.Sprintf("%s and %s are the same run: name each run once", a.Name, b.Name)
			}
		}
	}
	return ""
}

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
		return int(math.Copysign(1, a.amount-b.amount))
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

// every goes through all figures.
func (c *Comparison) every(visit func(where string, f *Figure)) {
	for i := range c.Levels {
		for k := range c.Levels[i].Figures {
			visit(c.Levels[i].Load, &c.Levels[i].Figures[k])
		}
	}
	for i := range c.Capacity {
		visit("", &c.Capacity[i])
	}
}

// test decides which figures differ: the headline figures first, and the others if one of them
// does.
func (c *Comparison) test() {
	head := c.permuted(true)
	c.CanShow, c.Runs = head.able, runsText(c.n, c.m, head.able)
	if !head.able || c.decide(head, true) == 0 {
		return
	}
	c.decide(c.permuted(false), false)
}

// permuted is the test of one group of figures.
func (c *Comparison) permuted(head bool) *permutation {
	var all []logSeries
	c.every(func(_ string, f *Figure) {
		if f.series != nil && f.head == head {
			all = append(all, f.series)
		}
	})
	return permute(all, c.n, c.m)
}

// decide puts what the test says into the figures of the group, and counts those that differ.
func (c *Comparison) decide(p *permutation, head bool) (differ int) {
	c.every(func(_ string, f *Figure) {
		if f.series == nil || f.head != head {
			return
		}
		if f.series.constant() {
			f.Low, f.High, f.P = f.Change, f.Change, opt.Of(1)
			return
		}
		d, se, t := f.series.welch(p.before)
		f.Low, f.High = f.figure.kind.change(d-p.bound*se), f.figure.kind.change(d+p.bound*se)
		f.P = report.RoundedShare(opt.Of(p.p(t)))
		if f.Differs = t > p.bound*(1+1e-9); f.Differs {
			f.Effect = f.figure.effect(d)
			differ++
		}
	})
	return differ
}

// effect is what a change means.
func (f *figure) effect(d float64) report.Text {
	switch float64(f.good) * d {
	case 0:
		return "changed"
	}
	if float64(f.good)*d > 0 {
		return "better"
	}
	return "worse"
}

// runsText says what so many runs allow to say.
func runsText(n, m int, able bool) string {
	need := runsNeeded()
	switch {
	case able:
		return fmt.Sprintf("%d + %d runs; equal runs show a difference in at most 5 of 100 comparisons", n, m)
	case n == 1 && m == 1:
		return fmt.Sprintf("one run on each side cannot show a difference: nothing says how much the next run will differ, however many requests these had; "+
			"repeat both, %d runs on each side at least, in turns", need)
	}
	return fmt.Sprintf("%d + %d runs cannot show a difference: by chance alone the runs fall apart like this in more than 5 of 100 comparisons; "+
		"take %d on each side at least, in turns", n, m, need)
}

// ExitCode is 1 if a condition to fail holds, or cannot be judged.
func (c Comparison) ExitCode() int {
	if slices.ContainsFunc(c.Conditions, func(r ConditionResult) bool { return r.Failed }) {
		return 1
	}
	return 0
}
