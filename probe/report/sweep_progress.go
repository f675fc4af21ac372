package report

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/opt"
	"sonde/probe/sweep"
)

// At shows where a sweep stands.
func (p *ProgressLine) At(s sweep.Status) {
	if s.State == sweep.Running {
		p.show(s.Line())
	}
}

// Ended leaves a line for a level that is over.
func (p *ProgressLine) Ended(r sweep.Row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	line := levelLine(&r)
	if p.width > 0 {
		line = ansi.Truncate(line, p.width-1, "…")
	}
	fmt.Fprintln(p.out, line)
}

// levelLine is a level in one line of plain text.
func levelLine(r *sweep.Row) string {
	parts := []string{sweep.Describe(r.Load) + ": " + figure(r.OutTokensPerS) + " tok/s"}
	if r.TTFT.N > 0 {
		parts = append(parts, "TTFT p95 "+figure(opt.Of(r.TTFT.P95))+" ms")
	}
	if r.TPOT.N > 0 {
		parts = append(parts, "TPOT p95 "+figure(opt.Of(r.TPOT.P95))+" ms")
	}
	parts = append(parts, fmt.Sprintf("n %d", r.N()))
	if r.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", r.Failed))
	}
	if v := r.Verdict(); v != sweep.NotJudged {
		parts = append(parts, v.String()+" the SLO")
	}
	if !r.Settled {
		parts = append(parts, "not settled")
	}
	return strings.Join(parts, " · ")
}
