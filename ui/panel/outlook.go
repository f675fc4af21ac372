package panel

import (
	"fmt"
	"slices"

	"sonde/probe/arrivals"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/text"
)

// nowMark stands between what is past and what is ahead.
const nowMark = "┃"

// looksAhead reports whether the schedule is known in advance. A recording may hold anything.
func looksAhead(o *arrivals.Outlook) bool { return o.Step > 0 && o.Past >= 0 && o.Past < len(o.PerS) }

// outlookBars draws the arrivals per second of a schedule on w cells: some that are past, the mark
// of now, and what is ahead.
func outlookBars(v *View, w int) string {
	o, t := &v.Frame.Load.Ahead, v.Theme
	if !looksAhead(o) || w < 4 {
		return ""
	}
	past := min(o.Past, (w-1)/5)
	ahead := min(len(o.PerS)-o.Past, w-1-past)
	shown := o.PerS[o.Past-past : o.Past+ahead]
	ys := make([]float64, len(shown))
	for i, y := range shown {
		ys[i] = float64(y)
	}
	top := max(largest(ys), 1e-9)
	return chart.Spark(past, ys[:past], top, t.Dim) + t.Accent.Render(nowMark) + chart.Spark(ahead, ys[past:], top, t.First)
}

// outlookLine is the strip of what is ahead with its scale, on w cells; "" where nothing is known in advance.
func outlookLine(v *View, w int) string {
	o, t := &v.Frame.Load.Ahead, v.Theme
	if !looksAhead(o) {
		return ""
	}
	highest := fmt.Sprintf(" ≤ %s/s", units.Sig2(float64(slices.Max(o.PerS))))
	bars := w - len("ahead ") - len([]rune(highest))
	if bars < 8 {
		highest, bars = "", w-len("ahead ")
	}
	return t.Dim.Render("ahead ") + outlookBars(v, bars) + t.Dim.Render(highest)
}

// traceState is how far a trace has come, in a few letters; "" without one.
func traceState(v *View) string {
	r := v.Frame.Load.Replay
	switch {
	case r == nil:
		return ""
	case r.Ended:
		return "trace ended"
	case r.Length == 0:
		return "trace"
	}
	return "trace " + units.WholePercent(float64(r.At)/float64(r.Length))
}

// traceFigures are how far a trace has come, and how many of its requests wait for a free stream.
func traceFigures(v *View) []text.Figure {
	state := traceState(v)
	if state == "" {
		return nil
	}
	figures := []text.Figure{text.Fig(state, v.Theme.Dim)}
	if n := v.Frame.Load.Replay.Waiting; n > 0 {
		figures = append(figures, text.Fig(count(n)+" wait", v.Theme.Note))
	}
	return figures
}

// traceLines are what became of the arrivals of a trace.
func traceLines(v *View, w int) []string {
	r, t := v.Frame.Load.Replay, v.Theme
	var lines []string
	if step := v.Frame.Load.Ahead.Step; step > 0 {
		lines = append(lines, t.Dim.Render("1 cell of ahead is "+units.Span(step)))
	}
	if r == nil {
		return lines
	}
	lines = append(lines, text.Clip(traceState(v)+": "+text.Clean(v.Requested.Trace), w),
		fmt.Sprintf("%s of %s · %s of %s sent", units.Clock(r.At), units.Clock(r.Length), count(r.Sent), count(r.Arrivals)))
	for _, c := range []struct {
		n    int
		what string
	}{
		{r.Waiting, "wait for a free stream now"},
		{r.Waited, "waited for a free stream, longest " + units.Span(r.LongestWait)},
		{r.Missed, "were missed: this machine is too busy"},
		{r.LeftOut, "were left out"},
		{r.Cut, "were cut to the context"},
		{r.Skipped, "did not fit the context"},
	} {
		if c.n > 0 {
			lines = append(lines, t.Note.Render(text.Clip(count(c.n)+" "+c.what, w)))
		}
	}
	return lines
}
