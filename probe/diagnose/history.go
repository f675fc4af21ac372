package diagnose

import (
	"cmp"
	"slices"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/slo"
)

// history is the Frames of the last 30 s, and what is worth keeping longer.
type history struct {
	frames []*frame.Frame
	levels *level.Book // of the session, to compare the present load with; nil: there is nothing to compare
	feeds  bool        // it is filled here
	slos   []slo.Target
	usual  usual
	clocks clocks
	run    longRun
	best   best
	since  time.Duration // when the current load was first seen
	clean  time.Duration // since the last trouble: requests that began before say nothing about the present

	// What several rules need of the newest Frame, found by look.
	ended    []endedRequest // requests with a result of the server's making, in the order in which they ended
	failures failures
	present  presentLoad
	busy     busy // means of the last seconds
	pauses   []pause
	judged   []sloNow // one for each SLO
}

func (h *history) add(f *frame.Frame) {
	// When the operator empties the statistics, the figures on the screen start
	// again, and so do the verdicts on them.
	if f.Has(frame.EventReset) {
		clear(h.frames)
		h.frames, h.run, h.best = h.frames[:0], longRun{}, best{}
	}
	if len(h.frames) == 0 || h.now().Load.Level != f.Load.Level {
		h.since = f.At - f.Slice
		h.run, h.best = longRun{}, best{}
	}
	if h.feeds {
		h.levels.Add(f)
	}
	h.usual.add(f)
	h.clocks.add(f)
	h.run.add(f)
	h.frames = append(h.frames, f)
	old := 0
	for h.frames[old].At <= f.At-keep && old < len(h.frames)-1 {
		old++
	}
	h.frames = slices.Delete(h.frames, 0, old)
	h.best.add(h)
}

// cleanSince makes what is measured begin anew.
func (h *history) cleanSince(moment time.Duration) {
	h.clean = moment
	h.look()
}

// counts reports whether a request that ended in a slice says something about the present.
func (h *history) counts(r *measure.Request, f *frame.Frame) bool {
	return h.clean == 0 || r.Start >= h.clean || r.Class != measure.OK && f.At > h.clean
}

// look finds what several rules need of the newest Frame.
func (h *history) look() {
	clear(h.ended)
	h.ended = h.ended[:0]
	for _, f := range h.frames {
		first := len(h.ended)
		for i := range f.Requests {
			if r := &f.Requests[i]; !r.Long && r.Class != measure.Cancelled && r.Class != measure.Loading && h.counts(r, f) {
				h.ended = append(h.ended, endedRequest{r, f.At})
			}
		}
		slices.SortStableFunc(h.ended[first:], func(a, b endedRequest) int { return cmp.Compare(a.End, b.End) })
	}
	h.failures = h.findFailures()
	h.present = h.findPresent()
	h.busy = h.findBusy()
	h.pauses = h.findPauses()
	h.judged = h.judgeSLOs()
}

func (h *history) now() *frame.Frame { return h.frames[len(h.frames)-1] }

// last returns the Frames of the newest d; ok is false if the history does not
// reach back that far.
func (h *history) last(d time.Duration) (frames []*frame.Frame, ok bool) {
	since := h.now().At - d
	i := len(h.frames)
	for i > 0 && h.frames[i-1].At > since {
		i--
	}
	return h.frames[i:], i > 0 || h.frames[0].At-h.frames[0].Slice <= since
}

// ofLoad returns the Frames of the present load.
func (h *history) ofLoad() []*frame.Frame {
	frames, _ := h.last(min(keep, h.now().At-max(h.since, h.clean)))
	return frames
}

// sinceTrouble returns the Frames since the last trouble was over.
func (h *history) sinceTrouble() []*frame.Frame {
	frames, _ := h.last(min(keep, h.now().At-h.clean))
	return frames
}

// recurrence is something that happens again and again.
type recurrence struct {
	n           int
	first, last time.Duration
}

func (r *recurrence) add(at time.Duration) {
	if r.n++; r.n == 1 {
		r.first = at
	}
	r.last = at
}

// goesOn reports whether it is too soon to say that it has stopped, by how far apart it was.
func (r *recurrence) goesOn(now time.Duration) bool {
	apart := (r.last - r.first) / time.Duration(max(1, r.n-1))
	return r.n > 0 && now-r.last <= min(max(recursAfter, recursTimes*apart/10), recursAtMost)
}

// steady is last, but only if the load did not change in that time.
func (h *history) steady(d time.Duration) (frames []*frame.Frame, ok bool) {
	frames, ok = h.last(d)
	for _, f := range frames {
		ok = ok && f.Load.Level == h.now().Load.Level && !f.Load.Moving()
	}
	return frames, ok
}

// justChanged reports whether the live window is still of another load: what happens
// now cannot be compared with it.
func (h *history) justChanged() bool { return h.now().At-h.since < recent }

// atLeast keeps a limit up while the usual is of another load.
func (h *history) atLeast() time.Duration {
	if h.justChanged() {
		return unheardOf
	}
	return 0
}

// seconds that the history covers, since the last trouble.
func (h *history) seconds() float64 {
	return (h.now().At - max(h.clean, h.frames[0].At-h.frames[0].Slice)).Seconds()
}

// sinceLast is how long ago something last held for a Frame; the length of the
// history, if it never did.
func (h *history) sinceLast(what func(*frame.Frame) bool) (ago time.Duration, ever bool) {
	for _, f := range slices.Backward(h.frames) {
		if what(f) {
			return h.now().At - f.At, true
		}
	}
	return h.now().At - h.frames[0].At + h.frames[0].Slice, false
}

// quiet is how long no token arrived: at least that, if none is in the history.
func (h *history) quiet() time.Duration {
	ago, _ := h.sinceLast(func(f *frame.Frame) bool {
		return f.Client.SliceOutTokens > 0 || slices.ContainsFunc(f.Requests, func(r measure.Request) bool { return r.Class == measure.OK })
	})
	return ago
}

// awake is how long our own process has run since it was last stopped (ctrl-z,
// a suspended machine): before that it saw nothing.
func (h *history) awake() time.Duration {
	ago, stopped := h.sinceLast(func(f *frame.Frame) bool { return f.Stopped })
	if !stopped {
		return h.now().At + keep
	}
	return ago
}

// usual is what can be expected of the server: the newest distributions that had
// something to say. They outlive the live window, which runs empty in a stall.
type usual struct {
	gap, first measure.Summary // first is TTFT, or E2E of replies that are not streamed
	streamed   bool
	clumped    bool // chunks come together, so that long gaps are the rule
}

func (u *usual) add(f *frame.Frame) {
	c := &f.Client
	u.clumped = f.Health.CoalescedShare >= clumpedShare
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

// gapLimit is the silence of a stream from which on it stalls.
func (u *usual) gapLimit(least time.Duration) time.Duration {
	if u.gap.N == 0 {
		return max(least, unheardOf)
	}
	high := u.gap.P90
	if u.gap.N >= enoughForP99 {
		high = u.gap.P99
	}
	limit := max(least, stallShortest, milliseconds(stallGaps*high))
	// What happened once may be a long prefill. Beyond some seconds it was a
	// stall itself, and no measure for the next one.
	if once := milliseconds(stallBeyondMax * u.gap.Max); once <= unheardOf || u.clumped {
		limit = max(limit, once)
	}
	return limit
}

// firstLimit is the wait for a first token that is far beyond the usual.
func (u *usual) firstLimit(least time.Duration) time.Duration {
	if u.first.N == 0 {
		return max(least, unheardOf)
	}
	return max(least, hangShortest, milliseconds(hangTTFTs*u.first.P95))
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
