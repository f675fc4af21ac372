package diagnose

import (
	"fmt"

	"sonde/probe/frame"
)

// pastKnee finds more streams bringing no more tokens.
type pastKnee struct{ before, after levelPoint }

func (r *pastKnee) check(h *history) outcome {
	n := len(h.levels)
	if n < 2 || h.levels[n-1].level != h.now().Load.Level || !h.levels[n-1].judged() {
		return unclear
	}
	r.after = h.levels[n-1]
	compared := false
	for _, p := range h.levels[:n-1] {
		if p.judged() && moreStreams(p.load, r.after.load) && (!compared || p.load.Concurrency > r.before.load.Concurrency) {
			r.before, compared = p, true
		}
	}
	if !compared {
		return unclear
	}
	return found(r.after.outTokensPerS < 1.1*r.before.outTokensPerS)
}

// moreStreams tells whether b asks for the same as a, but for at least half as
// many streams again.
func moreStreams(a, b frame.Load) bool {
	return a.Rate == 0 && b.Rate == 0 && a.InputTokens == b.InputTokens && a.OutputTokens == b.OutputTokens && a.Prefix == b.Prefix &&
		a.Concurrency > 0 && 2*b.Concurrency >= 3*a.Concurrency
}

func (r *pastKnee) verdict() Verdict {
	a, b := &r.before, &r.after
	return Verdict{
		Severity: Warn,
		Text: fmt.Sprintf("past the knee: from %d to %d streams output went from %s to %s tokens/s",
			a.load.Concurrency, b.load.Concurrency, count(a.outTokensPerS), count(b.outTokensPerS)),
		Evidence: []string{fmt.Sprintf("TTFT p95 went from %s to %s; both levels settled", millis(a.ttftP95), millis(b.ttftP95))},
		Advice:   fmt.Sprintf("more than %d streams only add waiting", a.load.Concurrency),
	}
}
