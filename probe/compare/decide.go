package compare

import (
	"fmt"
	"time"

	"sonde/probe/opt"
	"sonde/probe/report"
)

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

// oneSideFirst reports whether every run of one side began before any of the other.
func oneSideFirst(a Ask) bool {
	span := func(runs []Run) (from, to time.Time) {
		from, to = runs[0].Started.Time, runs[0].Started.Time
		for i := range runs {
			if t := runs[i].Started.Time; t.Before(from) {
				from = t
			} else if t.After(to) {
				to = t
			}
		}
		return from, to
	}
	beforeFrom, beforeTo := span(a.Before)
	afterFrom, afterTo := span(a.After)
	return !beforeFrom.IsZero() && !afterFrom.IsZero() && (beforeTo.Before(afterFrom) || afterTo.Before(beforeFrom))
}
