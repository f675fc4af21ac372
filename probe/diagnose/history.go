package diagnose

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

const (
	// keep is how far back a verdict looks.
	keep = 30 * time.Second
	// recent is how long a state must last before it is called one.
	recent = 5 * time.Second
)

// history is the Frames of the last 30 s, and what is worth keeping longer.
type history struct {
	frames []*frame.Frame
	levels []levelPoint
	slos   []SLO
	usual  usual
	clocks clocks
	run    longRun
	best   best
	since  time.Duration // when the current load was first seen

	inOrder []endedRequest // see ended; empty: to be gathered anew
	shape   *atThisLoad    // see atLoad; nil: to be gathered anew
}

func (h *history) add(f *frame.Frame) {
	h.forgetReset(f)
	if len(h.frames) == 0 || h.now().Load.Level != f.Load.Level {
		h.since = f.At - f.Slice
		h.run, h.best = longRun{}, best{}
	}
	h.usual.add(f)
	h.clocks.add(f)
	h.run.add(f)
	clear(h.inOrder)
	h.inOrder, h.shape = h.inOrder[:0], nil
	h.frames = append(h.frames, f)
	old := 0
	for h.frames[old].At <= f.At-keep && old < len(h.frames)-1 {
		old++
	}
	// Moving down instead of cutting off lets the old Frames be freed.
	n := copy(h.frames, h.frames[old:])
	clear(h.frames[n:])
	h.frames = h.frames[:n]
	h.addLevel(f)
	h.best.add(h)
}

// forgetReset drops what was seen when the operator empties the statistics: the
// figures on the screen begin anew, and so do the verdicts on them.
func (h *history) forgetReset(f *frame.Frame) {
	if f.Has(frame.EventReset) {
		clear(h.frames)
		h.frames, h.levels, h.run, h.best = h.frames[:0], nil, longRun{}, best{}
	}
}

func (h *history) now() *frame.Frame { return h.frames[len(h.frames)-1] }

// last gives the Frames of the newest d; ok is false if the history does not
// reach back that far.
func (h *history) last(d time.Duration) (frames []*frame.Frame, ok bool) {
	since := h.now().At - d
	i := len(h.frames)
	for i > 0 && h.frames[i-1].At > since {
		i--
	}
	return h.frames[i:], i > 0 || h.frames[0].At-h.frames[0].Slice <= since
}

// steady is last, but only if the load did not change in that time.
func (h *history) steady(d time.Duration) (frames []*frame.Frame, ok bool) {
	frames, ok = h.last(d)
	for _, f := range frames {
		ok = ok && f.Load.Level == h.now().Load.Level
	}
	return frames, ok
}

// justChanged tells that the live window is still of another load: what happens
// now cannot be compared with it.
func (h *history) justChanged() bool { return h.now().At-h.since < recent }

// requests calls f for every request of the history that had a result of the
// server's making.
func (h *history) requests(f func(*measure.Request)) {
	for _, frame := range h.frames {
		for i := range frame.Requests {
			if r := &frame.Requests[i]; counts(r) {
				f(r)
			}
		}
	}
}

func counts(r *measure.Request) bool {
	return !r.Long && r.Class != measure.Cancelled && r.Class != measure.Loading
}

// successes calls f for the requests that count in latency figures.
func (h *history) successes(f func(*measure.Request)) {
	h.requests(func(r *measure.Request) {
		if r.Class == measure.OK && !r.Excluded {
			f(r)
		}
	})
}

// newest gives up to n successful requests, newest Frame first.
func (h *history) newest(n int) []*measure.Request {
	var out []*measure.Request
	for i := len(h.frames) - 1; i >= 0; i-- {
		for k := range h.frames[i].Requests {
			r := &h.frames[i].Requests[k]
			if len(out) == n {
				return out
			}
			if r.Class == measure.OK && !r.Excluded && !r.Long {
				out = append(out, r)
			}
		}
	}
	return out
}

// outTokens that arrived within the history.
func (h *history) outTokens() float64 {
	sum := 0
	for _, f := range h.frames {
		sum += f.Client.SliceOutTokens
	}
	return float64(sum)
}

// seconds that the history covers.
func (h *history) seconds() float64 {
	return (h.now().At - h.frames[0].At + h.frames[0].Slice).Seconds()
}
