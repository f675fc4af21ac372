package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/measure"
)

// best remembers how quick the server was at the present load, by medians of some
// ten seconds.
type best struct {
	tpot, ttft float64 // ms; 0: not known
	looked     time.Duration
}

func (b *best) add(h *history) {
	const every = 5 * time.Second // each costs a walk over the newest requests
	if h.now().At-b.looked < every {
		return
	}
	b.looked = h.now().At
	lower(&b.tpot, h.lately((*measure.Request).TPOT))
	lower(&b.ttft, h.lately((*measure.Request).TTFT))
}

func lower(best *float64, s measure.Summary) {
	if s.N >= enough && (*best == 0 || s.P50 < *best) {
		*best = s.P50
	}
}

// slowed finds that the server became slower while we asked the same of it.
type slowed struct {
	what     string
	was, now float64 // medians, ms
	n        int
}

func (r *slowed) check(h *history) outcome {
	// An open loop has more in flight at times, by chance.
	tpotTimes, ttftTimes := 1.4, 2.5
	if h.now().Load.Asked.Rate > 0 {
		tpotTimes, ttftTimes = 2, 5
	}
	const tpotBy, ttftBy = 3, 100 // ms
	tpot, ttft := h.lately((*measure.Request).TPOT), h.lately((*measure.Request).TTFT)
	switch {
	case tpot.N >= enough && h.best.tpot > 0 && tpot.P50 >= max(tpotTimes*h.best.tpot, h.best.tpot+tpotBy):
		*r = slowed{"TPOT", h.best.tpot, tpot.P50, tpot.N}
		return holds
	case h.now().Load.Asked.InputTokens > 0 && // prompts of a file may come longer
		ttft.N >= enough && h.best.ttft > 0 && ttft.P50 >= max(ttftTimes*h.best.ttft, h.best.ttft+ttftBy):
		*r = slowed{"TTFT", h.best.ttft, ttft.P50, ttft.N}
		return holds
	case h.best.ttft == 0:
		return unclear
	}
	return absent
}

func (r *slowed) verdict() Verdict {
	return Verdict{
		Severity: Info,
		Text: fmt.Sprintf("slower than before at the same load: %s %s, it was %s, %s as long",
			r.what, millis(r.now), millis(r.was), times(r.now/r.was)),
		Evidence: []string{fmt.Sprintf("medians of the newest %d requests and of the best ten seconds since the load was set", r.n)},
		Advice:   "look for other load on the server, a throttled GPU, a busy host, or another replica that answers now",
	}
}
