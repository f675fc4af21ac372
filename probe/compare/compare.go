// Package compare sets runs before a change against runs after it: what differs, by how much, and
// how sure that is.
package compare

import (
	"errors"
	"fmt"
	"slices"

	"sonde/probe/report"
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
	if c.CanShow && oneSideFirst(a) {
		c.Runs += "; all runs of one side came first, so that a drift of the server looks like the change: take runs in turns"
	}
	for i := range a.Conditions {
		c.Conditions = append(c.Conditions, a.Conditions[i].judge(&c))
	}
	return c, nil
}

// repeated finds a run that is on one side twice: it would look as if runs never scattered.
func repeated(runs []Run) string {
	for i := range runs {
		for k := range runs[:i] {
			if a, b := &runs[k], &runs[i]; a.Is(&b.SweepSummary.Run) {
				return fmt.Sprintf("%s and %s are the same run: name each run once", a.Name, b.Name)
			}
		}
	}
	return ""
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

// ExitCode is 1 if a condition to fail holds, or cannot be judged.
func (c Comparison) ExitCode() int {
	if slices.ContainsFunc(c.Conditions, func(r ConditionResult) bool { return r.Failed }) {
		return 1
	}
	return 0
}
