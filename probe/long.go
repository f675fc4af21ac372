package probe

import (
	"fmt"
	"math"
	"slices"
	"time"

	"sonde/probe/collect"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// A long prompt is this many times the usual one, within bounds.
const (
	longFactor    = 16
	longAtLeast   = 8192
	longAtMost    = 65536
	longHeadroom  = 64  // tokens of a chat template that we cannot see
	effectAtLeast = 1.5 // times the median gap …
	beyondUsual   = 1.1 // … and times the usual long ones, which other prompts make
)

// longWatch follows a long prompt that was fired, and what it does to the gaps
// of the other streams until its first token.
type longWatch struct {
	tick   time.Duration
	slots  []int // of long prompts on their way at the last tick
	active bool  // one is followed:

	tokens    int
	sentAt    time.Duration
	earlier   []int   // slots of long prompts that were on their way before
	seen      bool    // its stream has shown up
	beforeMS  float64 // median gap of the live window when it was fired
	beforeN   int
	usualMS   float64 // gaps up to this are no effect of it
	others    int
	during    []float64     // gaps that closed meanwhile, ms
	disturbed time.Duration // slices whose gaps were well above the usual
}

// fire begins to follow a prompt of that many tokens, which is sent now.
func (w *longWatch) fire(tokens int, now time.Duration) {
	*w = longWatch{tick: w.tick, slots: w.slots, active: true, tokens: tokens, sentAt: now, earlier: w.slots}
}

// promptRoom is the longest prompt that the model takes beside an answer of so many tokens; below 1: none.
func promptRoom(id engine.Identity, output int) (tokens int, known bool) {
	tokens = math.MaxInt
	if id.MaxModelLen > 0 {
		tokens = id.MaxModelLen - output - longHeadroom
	}
	if id.MaxInputLen > 0 { // some servers bound prompts apart from answers
		tokens = min(tokens, id.MaxInputLen-longHeadroom)
	}
	return tokens, tokens < math.MaxInt
}

// longTokens is the length of the long prompt, within the model's context and what
// the server takes as a prompt.
func longTokens(usual frame.Load, id engine.Identity) int {
	tokens := min(max(usual.InputTokens*longFactor, longAtLeast), longAtMost)
	if room, known := promptRoom(id, usual.OutputTokens); known {
		tokens = min(tokens, room)
	}
	return max(tokens, usual.InputTokens)
}

// add follows the long prompt through one slice, and reports at its end.
func (w *longWatch) add(f *frame.Frame, t *collect.Tick) {
	w.slots = busySlots(t.Cells, true)
	if w.active && w.ended(f.At, t) {
		w.active = false
		f.Events = append(f.Events, frame.Event{At: f.At, Kind: frame.EventEffect, Text: w.report()})
	}
}

// ended takes a slice, and reports whether the long prompt has its first token.
func (w *longWatch) ended(now time.Duration, t *collect.Tick) bool {
	if !w.seen {
		gap := t.Client.Gap
		w.beforeMS, w.beforeN, w.others = gap.P50, gap.N, len(busySlots(t.Cells, false))
		w.usualMS = max(effectAtLeast*gap.P50, beyondUsual*gap.P99)
	}
	waiting, present := w.cell(t.Cells)
	w.take(&t.Client)
	switch {
	case present && waiting:
		w.seen = true
		return false
	case !present && !w.seen && now-w.sentAt < 2*w.tick:
		return false // it has not begun yet
	}
	return true
}

// busySlots are those of the streams with a request, either of long prompts or of others.
func busySlots(cells []measure.StreamCell, long bool) (slots []int) {
	for _, c := range cells {
		if c.Long == long && c.State != measure.StreamIdle {
			slots = append(slots, c.Slot)
		}
	}
	return slots
}

// cell reports whether the prompt's own stream is there, and whether it waits.
func (w *longWatch) cell(cells []measure.StreamCell) (waiting, present bool) {
	i := slices.IndexFunc(cells, func(c measure.StreamCell) bool { return c.Long && !slices.Contains(w.earlier, c.Slot) })
	return i >= 0 && cells[i].State == measure.StreamWaiting, i >= 0
}

func (w *longWatch) take(c *measure.Client) {
	above := false
	for ms, n := range c.EachSliceGap() {
		w.during = append(w.during, slices.Repeat([]float64{ms}, n)...)
		above = above || (w.beforeN > 0 && ms > w.usualMS)
	}
	if above || (len(c.SliceGaps) == 0 && w.others > 0) {
		w.disturbed += w.tick
	}
}

// worst is a gap that about half of the other streams had at least once. Where the
// whole prompt went in at once, each has a single long one among hundreds.
func (w *longWatch) worst() float64 {
	slices.Sort(w.during)
	half := (w.others + 1) / 2
	return w.during[max(0, len(w.during)-half)]
}

// report describes what the long prompt did to the others.
func (w *longWatch) report() string {
	switch {
	case w.beforeN == 0 || w.others == 0:
		return fmt.Sprintf("the prompt of %d tokens had no other streams beside it to disturb", w.tokens)
	case len(w.during) == 0:
		return fmt.Sprintf("a prompt of %d tokens stopped the tokens of all other streams for %s", w.tokens, units.Millis(measure.MS(w.disturbed)))
	}
	worst := w.worst()
	if worst < w.usualMS {
		return fmt.Sprintf("a prompt of %d tokens changed little: gaps of the others stayed at %s", w.tokens, units.Millis(worst))
	}
	return fmt.Sprintf("a prompt of %d tokens: gaps of %s rose from %s to %s for %s",
		w.tokens, units.Count(w.others, "stream"), units.Millis(w.beforeMS), units.Millis(worst), units.Millis(measure.MS(w.disturbed)))
}
