package canary

import (
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// State is how a target fares.
type State int

// States, the worst last.
const (
	Unknown State = iota // no probe has ended yet
	OK
	Slow    // it answers, but slower than usual, or than its SLO
	Failing // some probes fail
	Down    // no probe succeeds
)

// States are all of them.
var States = []State{Unknown, OK, Slow, Failing, Down}

// String is the state in a word. The words are in metrics and JSON, so they do not change.
func (s State) String() string { return [...]string{"unknown", "ok", "slow", "failing", "down"}[s] }

// Row is what is known of a target. It is a value: readers may keep it.
type Row struct {
	Target Target
	Model  string // that requests name; "" while none is known
	State  State
	Since  time.Time // when it entered the state
	Every  time.Duration

	Verdict diagnose.Verdict

	Last        measure.Request // the newest probe; without gaps
	LastEnded   time.Time       // zero: none has ended
	LastSuccess time.Time       // zero: none yet
	Began       time.Time       // of the probe in flight; zero: none is
	Next        time.Time       // when the next probe is due

	TTFT, TPOT, E2E opt.Float                           // ms, of the newest probe that succeeded
	Setup           opt.Float                           // ms, of the newest connection
	Hour            measure.Latencies[*measure.Summary] // of the last hour
	Probes, Failed  int                                 // in the last hour
	Classes         map[measure.Class]int               // of the failures among them; never changed
	Recent          []opt.Float                         // TTFTs of the newest probes, ms, oldest first; unknown: it failed. Never changed
	Spent           int                                 // tokens in the last hour
}

// take adds a probe that ended.
func (r *Row) take(w *watch, model string, p *measure.Request, now time.Time) {
	if model != "" {
		r.Model = model
	}
	r.Began, r.Next, r.Every, r.LastEnded = time.Time{}, w.schedule.due, w.schedule.every, now
	if !p.Reused && p.Setup > 0 {
		r.Setup = opt.Of(measure.MS(p.Setup))
	}
	if p.Class == measure.OK {
		r.LastSuccess = now
		r.TTFT, r.TPOT, r.E2E = known(p.TTFT()), known(p.TPOT()), known(p.E2E())
	}
	r.Last = *p
	r.Last.GapsMS, r.Last.LaterGapsMS, r.Last.LaterGapCounts = nil, nil, nil
	h := &w.history
	r.Probes, r.Failed, r.Classes = h.counts()
	r.Hour, r.Recent = h.summaries(), h.recent()
}

// PerS is the rate of tokens of the newest success, per second.
func (r *Row) PerS() opt.Float {
	if !r.TPOT.OK || r.TPOT.V <= 0 {
		return opt.Float{}
	}
	return opt.Of(1000 / r.TPOT.V)
}

func known(ms float64, ok bool) opt.Float {
	if !ok {
		return opt.Float{}
	}
	return opt.Of(ms)
}

// Change is a change of a target's state.
type Change struct {
	At     time.Time
	Was    State
	WasFor time.Duration
	Row    Row // after the change
}
