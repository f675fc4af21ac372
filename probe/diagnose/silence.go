package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// silence is how long streams have been without a token, among those past a limit.
type silence struct {
	n, all            int
	shortest, longest time.Duration
}

func (s *silence) add(d time.Duration) {
	if s.n++; s.n == 1 {
		s.shortest = d
	}
	s.shortest, s.longest = min(s.shortest, d), max(s.longest, d)
}

const outOfRoom = "the engine has no room left in its KV cache"

// usually is what a latency was before, to compare with.
func usually(s measure.Summary, percentiles, name string) string {
	if s.N == 0 {
		return "no earlier " + name + " to compare with"
	}
	return fmt.Sprintf("before that, %s %s, n %d", name, percentiles, s.N)
}

// checkStalled finds streams that have stopped getting tokens in the middle of a response.
func checkStalled(h *history) finding {
	f, limit, awake := h.now(), h.usual.gapLimit(h.atLeast()), h.awake()
	var s silence
	waiting, longPrompt := 0, false
	for i := range f.Streams {
		c := &f.Streams[i]
		switch {
		case c.State == measure.StreamWaiting:
			waiting++
			longPrompt = longPrompt || c.Long
		case c.State == measure.StreamDecode && !c.Ended:
			s.all++
			// A gap that closed in the slice is over.
			if d := min(milliseconds(c.MaxGapMS), awake); c.Tokens == 0 && d >= limit {
				s.add(d)
			}
		}
	}
	full, gap := h.outOfKV(), h.usual.gap
	return decide(true, s.n > 0, warn("no token from %d of %s for %s", s.n, units.Count(s.all, "stream"), units.Elapsed(s.shortest)).
		asIf(2*s.n >= s.all && !longPrompt && !full, Bad).
		withIf(full, outOfRoom).
		withIf(longPrompt, "the engine is reading the long prompt that was sent on purpose").
		with("%s", engineAnswers(f)).
		withIf(s.longest >= s.shortest+time.Second, "longest silence %s", units.Elapsed(s.longest)).
		with("%s", usually(gap, fmt.Sprintf("p50 %s, p99 %s", units.Millis(gap.P50), units.Millis(gap.P99)), "gap")).
		withIf(waiting > 0, "%d more waiting for a first token", waiting).
		advise("check the engine's log, the GPU, and the network"))
}

// checkHang finds requests that wait for a first token far longer than usual.
func checkHang(h *history) finding {
	f, limit := h.now(), h.usual.firstLimit(h.atLeast())
	total := h.quiet() >= limit // nobody gets a token
	if !total {
		if h.justChanged() {
			return unclear
		}
		// While others get tokens, a wait that has happened before is not unusual.
		limit = max(limit, unheardOf, milliseconds(hangBeyondMax*h.usual.first.Max))
	}
	awake, all := h.awake(), waits(f)
	s, oldest := silence{all: max(f.Client.InFlight, len(all))}, time.Duration(0)
	for _, wait := range all {
		wait = min(wait, awake)
		oldest = max(oldest, wait)
		if wait >= limit {
			s.add(wait)
		}
	}
	text := fmt.Sprintf("no first token from %d of %s for up to %s", s.n, units.Count(s.all, "request"), units.Elapsed(oldest))
	if total {
		text = fmt.Sprintf("no first token for %s: %d of %s waiting", units.Elapsed(oldest), s.n, units.Count(s.all, "request"))
	}
	full := h.outOfKV()
	return decide(true, s.n > 0, warn("%s", text).
		asIf(oldest >= h.hangBad() && (total || 2*s.n >= s.all) && !full, Bad).
		withIf(full, outOfRoom).
		withIf(f.Client.OldestWaiting == 0, "none has been sent yet: still connecting").
		with("%s", engineAnswers(f)).
		with("%s", usually(h.usual.first, "p95 "+units.Millis(h.usual.first.P95), "TTFT")).
		withIf(!f.Engine.Have && f.Engine.Why != "", "engine: %s", f.Engine.Why).
		advise("check the engine's log, and whether it still serves other clients"))
}

// hangBad is the wait from which on a hang is bad.
func (h *history) hangBad() time.Duration {
	if h.usual.first.N == 0 {
		return hangBadUnknown
	}
	return hangBad
}

// waits are how long each request has been without a token. Where the streams are not
// known, the age of the oldest stands for all.
func waits(f *frame.Frame) []time.Duration {
	var out []time.Duration
	for i := range f.Streams {
		if c := &f.Streams[i]; c.State == measure.StreamWaiting && !c.Long {
			out = append(out, milliseconds(c.WaitMS))
		}
	}
	if len(f.Streams) == 0 {
		for range f.Client.Prefill {
			out = append(out, f.Client.OldestWaiting)
		}
	}
	return out
}
