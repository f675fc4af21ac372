// Package panel draws the panels of the live screen, and the lines around them. A panel
// turns a View and a size into lines; none of them keeps data.
package panel

import (
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/slo"
	"sonde/probe/sweep"
	"sonde/probe/units"
	"sonde/ui/history"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// View is everything that panels draw from: the newest Frame, the history, and the load
// as it was requested, which no Frame may show yet. While the screen is paused it stays
// as it was.
type View struct {
	Theme     *theme.Palette
	Frame     *frame.Frame
	Have      bool // Frame is a real one
	History   *history.History
	Requested frame.Load           // always as it stands, also while paused
	Cursor    int64                // number of the column that the cursor is on, from 1; 0: there is no cursor
	SLOs      []slo.Target         // limits of latencies are drawn into the charts
	Silent    time.Duration        // how long no Frame has come
	Playback  *frame.PlaybackState // where a recording is; nil for a live session

	Other   *history.Other // another run, shown beside this one; nil: none, or it is still read
	ByLevel bool           // it is aligned by load, not by time since the load began
	Unlike  []string       // why its figures answer other questions

	Verdicts  []diagnose.Verdict // strongest first
	Checked   diagnose.Checked
	Incidents []diagnose.Incident // by their beginning
	Levels    Levels              // as they were when they were last on the screen
	Sweep     sweep.Status
}

// SilentAfter is after how long the screen says that no Frames arrive.
const SilentAfter = 3 * time.Second

// unservedFrom is how long nothing comes until the screen says so, and times the longest
// TTFT of the live window, because a long prompt keeps a lone stream waiting.
const (
	unservedFrom  = 5 * time.Second
	unservedTTFTs = 1.5
)

// unserved is how long the server has served nothing of what it was sent; 0 while it serves.
func (v *View) unserved() time.Duration {
	f, h := v.Frame, v.History
	c := &f.Client
	quiet := f.At - h.Served
	sent := c.InFlight > 0 || c.Retrying > 0 || h.Refused > h.Served
	usual := time.Duration(unservedTTFTs * c.TTFT.Max * float64(time.Millisecond))
	if h.Served == 0 || !sent || quiet < max(unservedFrom, usual) {
		return 0
	}
	return quiet
}

// ofNow marks figures of the live window that are of before: while nothing is served they
// are dim, and how long it is stands before them, in the place of the last one.
func (v *View) ofNow(figures []text.Figure) []text.Figure {
	quiet := v.unserved()
	if quiet == 0 || len(figures) == 0 {
		return figures
	}
	for i := range figures {
		figures[i].Style = v.Theme.Dim
	}
	none := text.Fig("none for "+units.Elapsed(quiet), v.Theme.Bad)
	return append([]text.Figure{none}, figures[:len(figures)-1]...)
}

// Verdict is the strongest one.
func (v *View) Verdict() diagnose.Verdict {
	if len(v.Verdicts) == 0 {
		return diagnose.Verdict{}
	}
	return v.Verdicts[0]
}

// slosOf are the limits of a latency.
func (v *View) slosOf(metric string) []slo.Target {
	var found []slo.Target
	for _, s := range v.SLOs {
		if s.Metric == metric && s.LimitMS > 0 {
			found = append(found, s)
		}
	}
	return found
}

// beforeLoad reports whether the requested load has yet to start.
func (v *View) beforeLoad() bool {
	return v.Have && v.Requested.Concurrency == 0 && v.Frame.Load.Stage != frame.StageLoad
}

// rate is how many requests per second are due now.
func (v *View) rate() float64 {
	if v.Frame.Load.Requested == v.Requested {
		return v.Frame.Load.Rate()
	}
	return v.Requested.Rate // no Frame shows it yet
}

// capped reports whether a closed loop cannot be turned up any further.
func (v *View) capped() bool {
	return v.Requested.Rate <= 0 && v.Requested.Concurrency > 0 && v.Requested.Concurrency == v.Frame.Load.Max
}

// watching reports whether there are no requests of our own, so that the engine's figures are
// all there is.
func (v *View) watching(own measure.Summary) bool {
	return v.Have && own.N == 0 && v.Requested.Concurrency == 0 && v.Frame.Client.InFlight == 0
}

// ageNote is "" for a fresh reading, else its age for a border.
func (v *View) ageNote(at time.Time, period time.Duration) string {
	if v.Frame.Fresh(at, period) {
		return ""
	}
	age, _ := v.Frame.Age(at)
	return units.Span(age.Truncate(time.Second)) + " old"
}

func (v *View) engineAgeNote() string {
	if !v.Frame.Engine.Have {
		return ""
	}
	return v.ageNote(v.Frame.Engine.Reading.At, v.Frame.Engine.Period)
}

func (v *View) gpuAgeNote() string {
	if len(v.Frame.GPU.GPUs) == 0 {
		return ""
	}
	return v.ageNote(v.Frame.GPU.At, v.Frame.GPU.Period)
}

// estimate is what the engine reports about the requests of all its clients, from its
// buckets, in milliseconds.
type estimate struct {
	p50, p95 float64
	beyond   [2]bool // p50 and p95 are only lower bounds: beyond the last finite bucket
	n        int     // 0: the engine reports nothing
}

// pick is one of the engine's histograms.
type pick func(*engine.Reading) *engine.Histogram

func engineTTFT(r *engine.Reading) *engine.Histogram { return &r.TTFT }
func engineGap(r *engine.Reading) *engine.Histogram  { return &r.Gap }
func engineE2E(r *engine.Reading) *engine.Histogram  { return &r.E2E }

// engineOwn is the engine's own estimate, if it stands in for our figures.
func (v *View) engineOwn(own measure.Summary, histogram pick) (estimate, bool) {
	if !v.watching(own) {
		return estimate{}, false
	}
	h := v.History.Engine.Grown(histogram, history.EngineWindow)
	if h.Count < 1 {
		return estimate{}, false
	}
	e := estimate{n: int(h.Count)}
	e.p50, e.beyond[0] = quantileMS(&h, 0.50)
	e.p95, e.beyond[1] = quantileMS(&h, 0.95)
	return e, true
}

// quantileMS is a quantile in milliseconds, or the last finite bound if it lies beyond it.
func quantileMS(h *engine.Histogram, q float64) (ms float64, beyond bool) {
	s, above, ok := h.Quantile(q)
	if !ok {
		s = above
	}
	return 1000 * s, !ok
}

// unit is the one for both quantiles.
func (e estimate) unit() units.Latency { return units.LatencyFor(e.p50, e.p95) }

// figures of an estimate, marked as one.
func (e estimate) figures(t *theme.Palette, u units.Latency) []text.Figure {
	return []text.Figure{
		text.Fig("est.", t.Dim), text.Fig("p50 "+e.median(u), t.P50), text.Fig("p95 "+e.high(u), t.P95), text.Fig("n "+count(e.n), t.Dim),
	}
}

func (e estimate) median(u units.Latency) string { return lowerBound(e.beyond[0]) + u.Of(e.p50) }
func (e estimate) high(u units.Latency) string   { return lowerBound(e.beyond[1]) + u.Of(e.p95) }

func lowerBound(yes bool) string {
	if yes {
		return ">"
	}
	return ""
}

// count writes how many there are of something that was counted, whole a number that somebody
// chose.
func count(n int) string { return units.Tally(float64(n)) }
func whole(n int) string { return units.Whole(float64(n)) }
