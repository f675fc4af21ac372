package collect

import (
	"math"
	"time"

	"sonde/probe/measure"
)

// level is the stretch at one load setting, and its own numbers: of requests
// that started and ended at that setting after it had settled.
type level struct {
	number  int // counts settings from 1; 0 before the first load
	since   time.Duration
	goal    Goal
	settled bool
	from    time.Duration // when it settled

	ttft, tpot, e2e *measure.Dist
	outTokens       int
}

const (
	levelExactUpTo = 8192
	// settleWindow is the length of each of the two successive sub-windows whose
	// throughput has to agree; see window.
	settleWindow = 2 * time.Second
	// settleWithin is how far the two may differ, as a share of the larger.
	settleWithin = 0.15
	// burstsWithin bounds what chance may explain where arrivals come in bursts.
	burstsWithin = 0.7
)

// Goal is what a level has to reach in order to settle.
type Goal struct {
	Streams int           // in flight or thinking; 0 if the load is a rate
	Think   time.Duration // the mean pause of a stream between two requests
	Over    time.Duration // a rate: the ramp that leads to it
	CV      float64       // a rate: the coefficient of variation of the gaps between arrivals
	Idle    bool          // no load: nothing to settle
}

// reset empties the level's numbers; they are counted from now on.
func (l *level) reset(now time.Duration) {
	l.ttft, l.tpot, l.e2e = measure.NewDist(levelExactUpTo), measure.NewDist(levelExactUpTo), measure.NewDist(levelExactUpTo)
	l.outTokens = 0
	l.from = now
}

// SetLevel begins a new level: the load was changed at that instant.
func (c *Collector) SetLevel(at time.Duration, goal Goal) {
	number := c.level.number + 1
	c.level = level{number: number, since: at, goal: goal}
	c.level.reset(at)
}

// window is the length of the sub-windows. Of streams that think it holds a request and a pause:
// each stream has brought about a request's tokens.
func (l *level) window(lasts time.Duration) time.Duration {
	if l.goal.Think == 0 {
		return settleWindow
	}
	return min(max(settleWindow, l.goal.Think+lasts), MaxWindow)
}

// tick looks whether the level has settled: the target is reached and two
// successive sub-windows of throughput agree. lasts is how long a request takes.
func (l *level) tick(now time.Duration, streams int, last, before flowSlot, lasts time.Duration) {
	steady := now - l.since - l.goal.Over // for so long the load has not changed
	if l.settled || l.number == 0 || l.goal.Idle || steady < 2*l.window(lasts) {
		return
	}
	within := settleWithin
	if l.goal.Think > 0 { // pauses scatter
		within = max(within, scatter(last.ok, before.ok))
	}
	if l.goal.Streams == 0 { // a rate
		// What is in flight takes as long to build up as a request lasts.
		if steady < lasts+2*settleWindow {
			return
		}
		chance := scatter(last.ok, before.ok) * max(1, l.goal.CV)
		within = max(within, min(chance, burstsWithin))
	} else if streams != l.goal.Streams {
		return
	}
	a, b := float64(last.out), float64(before.out)
	if a == 0 || b == 0 || max(a, b)-min(a, b) > within*max(a, b) {
		return
	}
	l.settled, l.from = true, now
}

// scatter is by what share two sub-windows of random arrivals differ by chance: two standard
// deviations of the difference of two Poisson counts, over the larger.
func scatter(a, b int) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return 2 * math.Sqrt(float64(a+b)) / float64(max(a, b))
}

// of is the level that a request belongs to, 0 if it spans a change.
func (l *level) of(r *measure.Request) int {
	if r.Start < l.since {
		return 0
	}
	return l.number
}

func (l *level) add(r *measure.Request) {
	if !l.settled || r.Level != l.number || r.Start < l.from {
		return
	}
	if ms, ok := r.TTFT(); ok {
		l.ttft.Add(ms)
	}
	if ms, ok := r.TPOT(); ok {
		l.tpot.Add(ms)
	}
	if ms, ok := r.E2E(); ok {
		l.e2e.Add(ms)
	}
	l.outTokens += r.OutTokens
}

func (l *level) stats(now time.Duration) measure.LevelStats {
	s := measure.LevelStats{TTFT: l.ttft.Summary(), TPOT: l.tpot.Summary(), E2E: l.e2e.Summary()}
	if l.settled && now > l.from {
		s.OutTokensPerS = float64(l.outTokens) / (now - l.from).Seconds()
	}
	return s
}
