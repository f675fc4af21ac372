package diagnose

import (
	"strings"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// usual is what can be expected of the server: the newest distributions that had
// something to say. They outlive the live window, which runs empty in a stall.
type usual struct {
	gap, first measure.Summary // first is TTFT, or E2E of replies that are not streamed
	streamed   bool
	clumped    bool // chunks come together, so that long gaps are the rule
}

func (u *usual) add(f *frame.Frame) {
	c := &f.Client
	u.clumped = f.Health.CoalescedShare >= 0.5
	keepUsual(&u.gap, c.Gap)
	u.streamed = u.streamed || c.TTFT.N > 0
	if u.streamed {
		keepUsual(&u.first, c.TTFT)
	} else {
		keepUsual(&u.first, c.E2E)
	}
}

func keepUsual(kept *measure.Summary, s measure.Summary) {
	if s.N >= enough || kept.N < enough && s.N > 0 {
		*kept = s
	}
}

// unheardOf is how long a silence has to be where nothing is known to compare
// it with, or what is known is of another load.
const unheardOf = 5 * time.Second

// gapLimit is the silence of a stream from which on it stalls.
func (u *usual) gapLimit(least time.Duration) time.Duration {
	const shortest, far, beyondMax = 2 * time.Second, 3, 1.25
	if u.gap.N == 0 {
		return max(least, unheardOf)
	}
	high := u.gap.P90
	if u.gap.N >= 100 { // below, p99 is only the maximum
		high = u.gap.P99
	}
	limit := max(least, shortest, milliseconds(far*high))
	// What happened once may be a long prefill. Beyond some seconds it was a
	// stall itself, and no measure for the next one.
	if once := milliseconds(beyondMax * u.gap.Max); once <= unheardOf || u.clumped {
		limit = max(limit, once)
	}
	return limit
}

// firstLimit is the wait for a first token that is far beyond the usual.
func (u *usual) firstLimit(least time.Duration) time.Duration {
	const shortest, far = 3 * time.Second, 4
	if u.first.N == 0 {
		return max(least, unheardOf)
	}
	return max(least, shortest, milliseconds(far*u.first.P95))
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// atLeast keeps a limit up while the usual is of another load.
func (h *history) atLeast() time.Duration {
	if h.justChanged() {
		return unheardOf
	}
	return 0
}

// quiet is how long no token arrived: at least that, if none is in the history.
func (h *history) quiet() time.Duration {
	for i := len(h.frames) - 1; i >= 0; i-- {
		if alive(h.frames[i]) {
			return h.now().At - h.frames[i].At
		}
	}
	return h.now().At - h.frames[0].At + h.frames[0].Slice
}

// alive tells that the server gave something in that slice.
func alive(f *frame.Frame) bool {
	if f.Client.SliceOutTokens > 0 {
		return true
	}
	for i := range f.Requests {
		if f.Requests[i].Class == measure.OK {
			return true
		}
	}
	return false
}

// awake is how long our own process has run since it was last stopped (ctrl-z,
// a suspended machine): before that it saw nothing.
func (h *history) awake() time.Duration {
	for i := len(h.frames) - 1; i >= 0; i-- {
		for _, e := range h.frames[i].Events {
			if e.Kind == frame.EventNote && strings.Contains(e.Text, "process was stopped") {
				return h.now().At - e.At
			}
		}
	}
	return h.now().At + keep
}
