package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/opt"
)

// The table's columns: a name, a count, then figures. Seven figures make 77
// cells, which fits the narrowest usual terminal.
const (
	nameWidth   = 14
	countWidth  = 7
	figureWidth = 8
)

// weakMark follows a percentile with too few samples behind it.
const weakMark = "?"

// WriteTable writes the Summary for people, in lines of at most width cells.
// Without color it holds no escape codes.
func (s Summary) WriteTable(w io.Writer, width int, color bool) error {
	t := table{width: width, color: color}
	t.head(&s)
	t.requests(&s)
	t.latencies(&s)
	t.floor(&s)
	t.rates(&s)
	t.engine(&s)
	t.gpus(s.GPUs)
	t.slos(&s)
	t.errors(s.Errors)
	t.notes(s.Notes)
	t.verdicts(s.Verdict)
	_, err := io.WriteString(w, t.out.String())
	return err
}

// table builds the text section by section.
type table struct {
	out   strings.Builder
	width int
	color bool
}

// line writes one line and cuts what does not fit.
func (t *table) line(text string) {
	t.out.WriteString(ansi.Truncate(strings.TrimRight(text, " "), t.width, "…"))
	t.out.WriteByte('\n')
}

func (t *table) linef(format string, args ...any) { t.line(fmt.Sprintf(format, args...)) }

// item writes a paragraph under a mark, wrapped with a hanging indent.
func (t *table) item(mark, text string) {
	indent := strings.Repeat(" ", ansi.StringWidth(mark))
	body := ansi.Wrap(plain(text), max(10, t.width-len(indent)), "")
	for i, row := range strings.Split(body, "\n") {
		if i > 0 {
			mark = indent
		}
		t.line(mark + row)
	}
}

// heading opens a section.
func (t *table) heading(name string, columns ...string) {
	t.out.WriteByte('\n')
	row := pad(name, nameWidth)
	for i, c := range columns {
		if i == 0 {
			row += right(c, countWidth)
		} else {
			row += right(c, figureWidth-1) + " "
		}
	}
	t.line(t.bold(strings.TrimRight(row, " ")))
}

func (t *table) bold(s string) string { return t.styled("1", s) }
func (t *table) dim(s string) string  { return t.styled("2", s) }

func (t *table) styled(code, s string) string {
	if !t.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *table) head(s *Summary) {
	t.line(t.bold("sonde bench") + "  " + word(s.Target.URL))
	t.linef("model %s · engine %s", word(s.Target.Model), strings.TrimSpace(word(s.Target.Engine)+" "+plain(string(s.Target.EngineVersion))))
	t.linef("%s loop, %s · prefix %s", s.Load.Mode, s.Load.describe(), word(s.Load.Prefix))
	t.linef("prompt %s → %s tok · output %d → %s tok · counted by %s", whole(s.Load.InputTokens), meanTokens(s.Tokens.Input, s),
		s.Load.OutputTokens, meanTokens(opt.Of(float64(s.Tokens.Output)), s), word(s.Tokens.Source))
	ending := ""
	if s.Interrupted {
		ending = " · INTERRUPTED"
	}
	t.linef("window %s s · seed %d%s", figure(s.DurationS), s.Seed, ending)
}

// describe says what keeps the requests coming.
func (l *Load) describe() string {
	if l.Rate.OK {
		return fmt.Sprintf("%s requests/s, at most %d in flight", figure(l.Rate), l.Concurrency)
	}
	return fmt.Sprintf("concurrency %d", l.Concurrency)
}

// meanTokens is the measured length per successful request.
func meanTokens(sum opt.Float, s *Summary) string {
	if s.Requests.OK == 0 {
		return unknown
	}
	return whole(sum.Scale(1 / float64(s.Requests.OK)))
}

func (t *table) requests(s *Summary) {
	r := s.Requests
	t.heading("requests")
	t.linef("sent %d   ok %d   failed %d   cancelled %d   excluded %d", r.Sent, r.OK, r.Failed, r.Cancelled, r.Excluded)
	if n := r.ByClass["loading"]; n > 0 {
		t.linef("%d more were refused while the model was loading", n)
	}
}

func (t *table) latencies(s *Summary) {
	t.heading("latency ms", "n", "mean", "p50", "p90", "p95", "p99", "p99.9", "max")
	l := &s.LatencyMS
	weak := t.latency("TTFT", l.TTFT)
	if l.TTFA.N > 0 && l.TTFA.P50 != l.TTFT.P50 {
		weak = t.latency("TTFA", l.TTFA) || weak
	}
	weak = t.latency("TPOT", l.TPOT) || weak
	weak = t.latency("gap", l.Gap) || weak
	weak = t.latency("E2E", l.E2E) || weak
	weak = t.latency("setup", l.Setup) || weak
	weak = t.latency("client queue", l.ClientQueue) || weak
	if s.Load.Rate.OK {
		weak = t.latency("from schedule", l.FromSchedule) || weak
	}
	e := &s.Engine.LatencyMS
	t.estimate("engine TTFT", e.TTFT)
	t.estimate("engine gap", e.Gap)
	t.estimate("engine queue", e.Queue)
	t.estimate("engine E2E", e.E2E)
	if weak {
		t.line(t.dim(weakMark + " too few samples for this percentile"))
	}
}

// latency writes one distribution and tells whether a weak figure was marked.
func (t *table) latency(name string, q Quantiles) bool {
	weak := map[string]bool{}
	for _, p := range q.Weak {
		weak[p] = q.N > 0
	}
	row := pad(name, nameWidth) + right(fmt.Sprint(q.N), countWidth)
	row += t.cell(q.Mean, false) + t.cell(q.P50, false) + t.cell(q.P90, weak["p90"]) + t.cell(q.P95, weak["p95"])
	row += t.cell(q.P99, weak["p99"]) + t.cell(q.P999, weak["p999"]) + t.cell(q.Max, false)
	t.line(row)
	return q.N > 0 && len(q.Weak) > 0
}

func (t *table) cell(v opt.Float, weak bool) string {
	text := right(figure(v), figureWidth-1)
	if weak {
		return t.dim(text + weakMark)
	}
	return text + " "
}

// estimate writes what the engine says of itself, if it says anything.
func (t *table) estimate(name string, e Estimate) {
	if e.N == 0 {
		return
	}
	cell := func(p string, v Number) string {
		if above, beyond := e.Above[p]; beyond {
			return right(">"+figure(above), figureWidth-1) + " "
		}
		if below, lowest := e.Below[p]; lowest {
			return right("<"+figure(below), figureWidth-1) + " "
		}
		return t.cell(v, false)
	}
	blank := strings.Repeat(" ", figureWidth)
	t.line(pad(name, nameWidth) + right(fmt.Sprint(e.N), countWidth) + t.cell(e.Mean, false) +
		cell("p50", e.P50) + blank + cell("p95", e.P95) + cell("p99", e.P99) + "  est.")
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

func right(s string, width int) string {
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(s))) + s
}
