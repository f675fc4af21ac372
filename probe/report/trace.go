package report

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// Trace is what became of the requests of a trace; all unknown without one.
type Trace struct {
	Name     Text   `json:"name"` // of its file, and how it was adjusted
	LengthS  Number `json:"length_s"`
	Arrivals Number `json:"arrivals"`
	Sent     Number `json:"sent"`

	Waited        Number `json:"waited"` // of those sent, those that waited for a free stream
	LongestWaitMS Number `json:"longest_wait_ms"`
	Missed        Number `json:"missed"`
	LeftOut       Number `json:"left_out"`
	Cut           Number `json:"cut"`
	CutTo         Number `json:"cut_to"` // tokens
	Skipped       Number `json:"skipped"`
}

func traceOf(l *level.Level) Trace {
	r := l.Replay
	if r == nil {
		return Trace{Name: Text(l.Load.Trace)}
	}
	count := func(n int) Number { return opt.Of(float64(n)) }
	return Trace{
		Name: Text(l.Load.Trace), LengthS: Rounded(opt.Of(r.Length.Seconds())), Arrivals: count(r.Arrivals), Sent: count(r.Sent),
		Waited: count(r.Waited), LongestWaitMS: Rounded(opt.Of(float64(r.LongestWait) / float64(time.Millisecond))),
		Missed: count(r.Missed), LeftOut: count(r.LeftOut), Cut: count(r.Cut), CutTo: count(r.CutTo), Skipped: count(r.Skipped),
	}
}

// aboutTrace says where a replay differs from its trace.
func aboutTrace(r *frame.TraceState) []string {
	if r == nil {
		return nil
	}
	all := units.WholeCommas(float64(r.Arrivals))
	of := func(n int) string { return units.WholeCommas(float64(n)) + " of " + all }
	left := r.Arrivals - r.Sent - r.Skipped - r.LeftOut - r.Missed
	return []string{
		iff(r.Waited > 0, "%s arrivals waited for a free stream, the longest %s: latencies from the schedule include that", of(r.Waited), units.Span(r.LongestWait)),
		iff(r.Missed > 0, "%s arrivals were missed: this machine was too busy to send them when they were due", of(r.Missed)),
		iff(r.LeftOut > 0, "%s arrivals were left out: they were due while nothing was to be sent", of(r.LeftOut)),
		iff(left > 0, "%s arrivals were never reached", of(left)),
		iff(r.Cut > 0, "%s prompts were longer than the model's context and were cut, to %s tokens at most", of(r.Cut), units.WholeCommas(float64(r.CutTo))),
		iff(r.Skipped > 0, "%s requests were skipped: their answers alone are longer than the model's context", of(r.Skipped)),
		iff(r.Empty > 0, "%d lengths of 0 tokens in the trace were taken as 1", r.Empty),
	}
}

// describe is the trace as the load.
func (t *Trace) describe(most int) string {
	return fmt.Sprintf("trace %s: %s requests in %s, at most %d in flight",
		word(t.Name), whole(t.Arrivals), units.Span(time.Duration(t.LengthS.V*float64(time.Second))), most)
}
