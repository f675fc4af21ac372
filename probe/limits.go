package probe

import (
	"fmt"
	"time"

	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/measure"
	"sonde/probe/process"
	"sonde/probe/units"
)

// ownFiles is what the program opens beside its streams: the terminal, engine
// and GPU readings, a recording, the embedded engine's listener.
const ownFiles = 32

// checkFiles finds out before the run whether this process may open as many sockets
// as the load needs. With the embedded engine both ends of each are ours.
func checkFiles(streams int, embedded bool) error {
	limit, known := process.FileLimit()
	perStream := 1
	if embedded {
		perStream = 2
	}
	if need := streams*perStream + ownFiles; !known || uint64(need) <= limit {
		return nil
	}
	fits := max(0, (int(limit)-ownFiles)/perStream)
	return fmt.Errorf("concurrency %d needs %d open files and this process may have %d: raise 'ulimit -n', or use at most %d",
		streams, streams*perStream+ownFiles, limit, fits)
}

// tokenCap ends the load when the cap on tokens is reached.
type tokenCap struct {
	limit    int64 // 0 = none
	commands *commands
	used     int64 // tokens of requests that ended
}

func (c *tokenCap) add(f *frame.Frame, _ *collect.Tick) {
	for i := range f.Requests {
		c.used += int64(f.Requests[i].InTokens + f.Requests[i].OutTokens)
	}
	if c.limit > 0 && c.used >= c.limit && c.commands.stopLoad() {
		f.Events = append(f.Events, note(f.At, fmt.Sprintf("stopped: %d tokens were used, the cap is %d", c.used, c.limit)))
	}
}

// refusalsInARow of the same context-length message end the load: every further
// prompt of this length would get the same answer.
const refusalsInARow = 3

// tooLong ends the load when the server keeps refusing prompts of this length.
type tooLong struct {
	commands *commands
	message  string
	count    int
	reported bool // that conversations outgrow the context
}

func (w *tooLong) add(f *frame.Frame, _ *collect.Tick) {
	for i := range f.Requests {
		r := &f.Requests[i]
		w.outgrown(f, r)
		if !drawnLong(f.Load.Requested, r) && w.isLast(r) {
			f.Events = append(f.Events, note(f.At, "stopped: the prompt is too long for the server: "+w.message))
			w.message, w.count = "", 0
			w.commands.stopLoad()
			return
		}
	}
}

// isLast counts identical refusals, and reports whether r is the one too many.
func (w *tooLong) isLast(r *measure.Request) bool {
	switch {
	case r.Long || r.Class == measure.Cancelled || r.Class == measure.ContextLength && r.Turn > 1:
		return false
	case r.Class != measure.ContextLength:
		w.message, w.count = "", 0
		return false
	case r.Error != w.message:
		w.message, w.count = r.Error, 0
	}
	w.count++
	return w.count == refusalsInARow
}

// outgrown reports once that a conversation has become longer than the context: others are at
// an earlier turn.
func (w *tooLong) outgrown(f *frame.Frame, r *measure.Request) {
	if r.Class != measure.ContextLength || r.Turn < 2 || w.reported {
		return
	}
	w.reported = true
	f.Events = append(f.Events, note(f.At, fmt.Sprintf(
		"a conversation became too long for the model's context at turn %d: it ended there, as others will, and a new one began", r.Turn)))
}

// drawnLong reports whether chance made the prompt longer than the mean: others may fit.
func drawnLong(l frame.Load, r *measure.Request) bool {
	return l.InputShape != (length.Shape{}) && r.RequestedIn > l.InputTokens
}

// loadingQuiet is how long no request must have met a loading model before another one is
// news: of several replicas one may load while the others answer in turn.
const loadingQuiet = 10 * time.Second

// longWait is a wait requested by the server that is news: a load that pauses for less
// looks slow, one that pauses for longer looks dead.
const longWait = 30 * time.Second

// refusals reports once that the server is loading its model, and again when it does so
// after a while; that it asked for a long wait; and once that it asked for any, which
// leaves holes in the schedule of an open loop.
type refusals struct {
	commands *commands
	loading  time.Duration // when a request last met a loading model; 0 = never
	until    time.Duration // end of the longest wait that was reported
	skipped  bool
}

func (w *refusals) add(f *frame.Frame, _ *collect.Tick) {
	for i := range f.Requests {
		w.asksToWait(f, &f.Requests[i])
		if f.Requests[i].Class != measure.Loading {
			continue
		}
		if w.loading == 0 || f.At-w.loading > loadingQuiet {
			f.Events = append(f.Events, note(f.At, "the server is loading its model: waiting for it"))
		}
		w.loading = f.At
	}
	if !w.skipped && w.commands.pool.LeftOut() > 0 {
		w.skipped = true
		f.Events = append(f.Events, note(f.At, "the server asked to wait (429): requests due meanwhile are skipped"))
	}
}

// asksToWait reports a long wait as soon as it is requested. All streams are refused
// within moments of each other: that is one wait.
func (w *refusals) asksToWait(f *frame.Frame, r *measure.Request) {
	until := r.End + r.RetryAfter
	if r.RetryAfter < longWait || until < w.until+longWait {
		return
	}
	w.until = until
	f.Events = append(f.Events, note(f.At, fmt.Sprintf("the server asked to wait %s, until %s",
		units.Span(r.RetryAfter), units.Until(f.Target.Started.Add(r.End), r.RetryAfter))))
}

// cutPrompts reports once that prompts of a spread were cut to what the model takes.
type cutPrompts struct {
	commands *commands
	reported bool
}

func (w *cutPrompts) add(f *frame.Frame, _ *collect.Tick) {
	if to := w.commands.pool.CutTo(); to > 0 && !w.reported {
		w.reported = true
		f.Events = append(f.Events, note(f.At, fmt.Sprintf("prompts are cut to %d tokens: longer ones exceed the model's context", to)))
	}
}
