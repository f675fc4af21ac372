package probe

import (
	"fmt"
	"time"

	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/units"
)

// scheduleWatch adds what a schedule that is known in advance holds, and how far a trace has
// come; the beginning and the end are marked.
type scheduleWatch struct {
	commands *commands
	began    bool
	ended    bool
}

func (w *scheduleWatch) add(f *frame.Frame, _ *collect.Tick) {
	pool := w.commands.pool
	f.Load.RateNow, f.Load.Ahead = pool.Outlook()
	r := pool.Replay()
	if f.Load.Replay = r; r == nil {
		w.began, w.ended = false, false
		return
	}
	if !w.began {
		w.began = true
		w.mark(f, f.At-r.At, fmt.Sprintf("begins: %s within %s", units.Count(r.Arrivals, "request"), units.Span(r.Length)))
	}
	if r.Ended && !w.ended {
		w.ended = true
		w.mark(f, f.At, fmt.Sprintf("has ended: %d of %s sent", r.Sent, units.Count(r.Arrivals, "request")))
	}
}

func (w *scheduleWatch) mark(f *frame.Frame, at time.Duration, what string) {
	f.Events = append(f.Events, frame.Event{At: at, Kind: frame.EventLoad, Text: "trace " + f.Load.Requested.Trace + " " + what})
}
