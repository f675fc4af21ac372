package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/report/page"
	"sonde/probe/slo"
	"sonde/probe/sweep"
	"sonde/probe/units"
)

// progressText is where a run stands, in one line of plain text.
func progressText(p *bench.Progress) string {
	parts := []string{phases[p.Phase]}
	if p.Of > 0 {
		parts = append(parts, fmt.Sprintf("%.0f of %.0f s", p.Elapsed.Seconds(), p.Of.Seconds()))
	}
	if p.OfEnded > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d requests", p.Ended, p.OfEnded))
	} else {
		parts = append(parts, units.Count(p.Ended, "request"))
	}
	parts = append(parts, fmt.Sprintf("%d in flight", p.InFlight), figure(opt.Of(p.OutTokensPerS))+" tok/s")
	if p.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", p.Failed))
	}
	return strings.Join(parts, " · ")
}

var phases = map[bench.Phase]string{
	bench.Idle: "starting", bench.Loading: "the model is loading", bench.Warmup: "warming up", bench.Settling: "warming up",
	bench.Measuring: "measuring", bench.Draining: "draining", bench.Cutting: "stopping", bench.Done: "done",
}

// ProgressLine shows a run's progress in one line that is redrawn in place. On
// anything but a terminal it shows nothing.
type ProgressLine struct {
	mu    sync.Mutex
	out   io.Writer
	width int // 0: no terminal
	shown string
	noted map[string]bool // notes that were printed
}

// NewProgressLine makes a line on the given file.
func NewProgressLine(file *os.File) *ProgressLine {
	p := &ProgressLine{out: file}
	if term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" {
		p.width = TerminalWidth(file)
	}
	return p
}

// Show redraws the line if it changed.
func (p *ProgressLine) Show(now bench.Progress) { p.Line(progressText(&now)) }

// Line shows a text of its own.
func (p *ProgressLine) Line(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width == 0 || line == p.shown {
		return
	}
	p.shown = line
	fmt.Fprint(p.out, "\r\x1b[K", ansi.Truncate(line, p.width-1, "…"))
}

// Notes prints, one line each, what else happened while the run went on; what happens
// again and again is printed once, the summary counts it. Off a terminal that is all there
// is to see before the end.
func (p *ProgressLine) Notes(f *frame.Frame) {
	for _, e := range f.Events {
		if e.Kind == frame.EventNote {
			p.note(page.Plain(e.Text))
		}
	}
}

func (p *ProgressLine) note(note string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noted[note] {
		return
	}
	if p.noted == nil || len(p.noted) >= maxNoted {
		p.noted = map[string]bool{}
	}
	p.noted[note] = true
	p.clear()
	fmt.Fprintln(p.out, note)
}

// maxNoted bounds the notes that are remembered.
const maxNoted = 1000

// Clear takes the line away.
func (p *ProgressLine) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *ProgressLine) clear() {
	if p.shown != "" {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = ""
	}
}

const usualWidth = 80

// TerminalWidth is the width of a terminal, or 80 where there is none.
func TerminalWidth(file *os.File) int {
	if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 0 {
		return w
	}
	return usualWidth
}

// At shows where a sweep stands.
func (p *ProgressLine) At(s sweep.Status) {
	if s.State == sweep.Running {
		p.Line(s.Line())
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
