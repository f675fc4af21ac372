package report

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/slo"
	"sonde/probe/sweep"
)

// At shows where a sweep stands.
func (p *ProgressLine) At(s sweep.Status) {
	if s.State == sweep.Running {
		p.show(s.Line())
	}
}

// Ended leaves a line for a level that is over.
func (p *ProgressLine) Ended(l level.Level) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	line := levelLine(&l)
	if p.width > 0 {
		line = ansi.Truncate(line, p.width-1, "…")
	}
	fmt.Fprintln(p.out, line)
}

// levelLine is a level in one line of plain text.
func levelLine(l *level.Level) string {
	parts := []string{sweep.Describe(l.Load) + ": " + figure(l.OutTokensPerS) + " tok/s"}
	if l.TTFT.N > 0 {
		parts = append(parts, "TTFT p95 "+figure(opt.Of(l.TTFT.P95))+" ms")
	}
	if l.TPOT.N > 0 {
		parts = append(parts, "TPOT p95 "+figure(opt.Of(l.TPOT.P95))+" ms")
	}
	parts = append(parts, fmt.Sprintf("n %d", l.OK))
	if l.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", l.Failed))
	}
	if v := l.Verdict(); v != slo.NotJudged {
		parts = append(parts, v.String()+" the SLO")
	}
	if !l.Settled {
		parts = append(parts, "not settled")
	}
	return strings.Join(parts, " · ")
}
