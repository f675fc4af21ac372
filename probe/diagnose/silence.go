package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// silence is how long streams have been without a token, of those that are past a limit.
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

// why is what explains that no token comes, as far as it is known.
func (h *history) why() (evidence []string, outOfKV bool) {
	outOfKV = h.outOfKV()
	if outOfKV {
		evidence = append(evidence, "the engine has no room left in its KV cache")
	}
	return evidence, outOfKV
}

// usually is what is known of a latency before, to compare with.
func usually(s measure.Summary, percentiles, name string) string {
	if s.N == 0 {
		return "no earlier " + name + " to compare with"
	}
	return fmt.Sprintf("before: %s %s, n %d", name, percentiles, s.N)
}

// checkStalled finds streams in the middle of an answer that get no token any more.
func checkStalled(h *history) (outcome, Verdict) {
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
	return when(s.n > 0, func() Verdict { return h.stalled(s, waiting, longPrompt) })
}

func (h *history) stalled(s silence, waiting int, longPrompt bool) Verdict {
	evidence, explained := h.why()
	v := Verdict{
		Severity: Warn, Evidence: evidence,
		Text:   fmt.Sprintf("no token from %d of %d streams for %s", s.n, s.all, units.Elapsed(s.shortest)),
		Advice: "check the engine's log, the GPU, and the network in between",
	}
	if 2*s.n >= s.all && !longPrompt && !explained {
		v.Severity = Bad
	}
	if longPrompt {
		v.Evidence = append(v.Evidence, "the engine is reading the long prompt that was sent on purpose")
	}
	if answers := engineAnswers(h.now()); answers != "" {
		v.Evidence = append(v.Evidence, answers)
	}
	if s.longest >= s.shortest+time.Second {
		v.Evidence = append(v.Evidence, "the longest for "+units.Elapsed(s.longest))
	}
	gap := h.usual.gap
	v.Evidence = append(v.Evidence, usually(gap, fmt.Sprintf("p50 %s, p99 %s", units.Millis(gap.P50), units.Millis(gap.P99)), "gap"))
	if waiting > 0 {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%d more wait for their first token", waiting))
	}
	return v
}

// checkHang finds requests that wait for a first token far longer than usual.
func checkHang(h *history) (outcome, Verdict) {
	f, limit := h.now(), h.usual.firstLimit(h.atLeast())
	total := h.quiet() >= limit // nobody gets a token
	if !total {
		if h.justChanged() {
			return unclear, Verdict{}
		}
		// Where others go on, a wait that happened before is part of the usual.
		limit = max(limit, unheardOf, milliseconds(hangBeyondMax*h.usual.first.Max))
	}
	awake, all := h.awake(), waits(f)
	s := silence{all: max(f.Client.InFlight, len(all))}
	oldest := time.Duration(0)
	for _, wait := range all {
		wait = min(wait, awake)
		oldest = max(oldest, wait)
		if wait >= limit {
			s.add(wait)
		}
	}
	return when(s.n > 0, func() Verdict { return h.hangs(s, oldest, total) })
}

// waits are how long each request has been without a token. Without the streams'
// cells the age of the oldest stands for all: only it is known.
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

func (h *history) hangs(s silence, oldest time.Duration, total bool) Verdict {
	evidence, explained := h.why()
	v := Verdict{
		Severity: Warn, Evidence: evidence,
		Text:   fmt.Sprintf("%d of %d requests have had no first token for up to %s", s.n, s.all, units.Elapsed(oldest)),
		Advice: "check the engine's log, and whether it still serves others",
	}
	if total {
		v.Text = fmt.Sprintf("no first token for %s: %d of %d requests waiting", units.Elapsed(oldest), s.n, s.all)
	}
	if oldest >= hangBad && (total || 2*s.n >= s.all) && !explained {
		v.Severity = Bad
	}
	f := h.now()
	if f.Client.OldestWaiting == 0 {
		v.Evidence = append(v.Evidence, "none has been sent yet: connecting takes that long")
	}
	if answers := engineAnswers(f); answers != "" {
		v.Evidence = append(v.Evidence, answers)
	}
	v.Evidence = append(v.Evidence, usually(h.usual.first, "p95 "+units.Millis(h.usual.first.P95), "TTFT"))
	if !f.Engine.Have && f.Engine.Why != "" {
		v.Evidence = append(v.Evidence, "engine: "+f.Engine.Why)
	}
	return v
}
