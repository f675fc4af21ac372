package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/sweep"
)

// Write writes the SweepSummary in one of the formats of a Document, or as "vllm".
func (s SweepSummary) Write(w io.Writer, format string, width int, color bool) error {
	return writeForm(s, w, format, width, color)
}

// WriteTable writes the SweepSummary for people, in lines of at most width cells.
func (s SweepSummary) WriteTable(w io.Writer, width int, color bool) error {
	t := table{width: width, color: color}
	t.sweepHead(&s)
	t.levels(&s)
	t.curve(&s)
	t.best(&s)
	t.errors(s.errors())
	t.notes(s.Notes)
	t.verdicts(s.Verdict)
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *table) sweepHead(s *SweepSummary) {
	t.line(t.bold("sonde sweep") + "  " + word(s.Target.URL))
	t.linef("model %s · engine %s", word(s.Target.Model), strings.TrimSpace(word(s.Target.Engine)+" "+plain(string(s.Target.EngineVersion))))
	t.linef("%s", s.setting())
	ending := ""
	if s.Interrupted {
		ending = " · INTERRUPTED"
	}
	t.linef("%s in %s s · seed %d%s", counted(len(s.Levels), "level"), whole(s.DurationS), s.Seed, ending)
	if s.EndedEarly != "" && !s.Interrupted {
		t.item("", "ended early: "+string(s.EndedEarly))
	}
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// setting is what all levels have in common.
func (s *SweepSummary) setting() string {
	if s.Load.Mode == "" {
		return "no request ended"
	}
	text := s.shape() + " · prefix " + word(s.Load.Prefix)
	if len(s.SLO) > 0 {
		text += " · SLO " + plain(strings.Join(s.SLO, ", "))
	}
	return text
}

// shape is the loop and the lengths.
func (s *SweepSummary) shape() string {
	return fmt.Sprintf("%s loop · prompt %s, output %d tokens", s.Load.Mode, whole(s.Load.InputTokens), s.Load.OutputTokens)
}

// levelColumn is one column of the table of levels. Those with the highest rank fall out
// first where the line is narrow.
type levelColumn struct {
	title string
	width int
	rank  int
	cell  func(l *Level) string
}

// levelColumns are all columns in their order.
func levelColumns() []levelColumn {
	latency := func(of func(*Latencies) *Quantiles, p string, v func(*Quantiles) Number) func(*Level) string {
		return func(l *Level) string { q := of(&l.LatencyMS); return marked(*q, p, v(q)) }
	}
	ttft := func(l *Latencies) *Quantiles { return &l.TTFT }
	tpot := func(l *Latencies) *Quantiles { return &l.TPOT }
	e2e := func(l *Latencies) *Quantiles { return &l.E2E }
	p50 := func(q *Quantiles) Number { return q.P50 }
	p95 := func(q *Quantiles) Number { return q.P95 }
	p99 := func(q *Quantiles) Number { return q.P99 }
	return []levelColumn{
		{"load", 7, 0, func(l *Level) string { return l.amount() }},
		{"n", 6, 1, func(l *Level) string { return fmt.Sprint(l.Requests.OK) }},
		{"TTFT p50", 9, 2, latency(ttft, "p50", p50)},
		{"TTFT p95", 9, 0, latency(ttft, "p95", p95)},
		{"TTFT p99", 9, 4, latency(ttft, "p99", p99)},
		{"TPOT p50", 9, 2, latency(tpot, "p50", p50)},
		{"TPOT p95", 9, 1, latency(tpot, "p95", p95)},
		{"TPOT p99", 9, 4, latency(tpot, "p99", p99)},
		{"E2E p95", 9, 5, latency(e2e, "p95", p95)},
		{"out tok/s", 10, 0, func(l *Level) string { return figure(l.Rates.OutputPerS) }},
		{"in tok/s", 9, 8, func(l *Level) string { return figure(l.Rates.InputPerS) }},
		{"/stream", 8, 6, func(l *Level) string { return figure(l.Rates.OutputPerSStream) }},
		{"req/s", 8, 3, func(l *Level) string { return figure(l.Rates.RequestsPerS) }},
		{"RPM", 8, 9, func(l *Level) string { return figure(l.Rates.RPM) }},
		{"TPM", 9, 9, func(l *Level) string { return figure(l.Rates.TotalTPM) }},
		{"KV %", 6, 5, func(l *Level) string { return whole(l.Engine.KVFillMean.Scale(100)) }},
		{"SM %", 6, 7, func(l *Level) string {
			return whole(meanOf(l.GPUs, func(g *GPUFigures) Number { return g.SMMean }).Scale(100))
		}},
		{"DRAM %", 7, 7, func(l *Level) string {
			return whole(meanOf(l.GPUs, func(g *GPUFigures) Number { return g.DRAMMean }).Scale(100))
		}},
		{"wait max", 9, 5, func(l *Level) string { return figure(l.Engine.WaitingMax) }},
		{"failed", 7, 3, func(l *Level) string { return fmt.Sprint(l.Requests.Failed) }},
		{"good %", 7, 6, func(l *Level) string { return whole(l.GoodShare.Scale(100)) }},
	}
}

// amount is the level's load, marked until it has settled.
func (l *Level) amount() string {
	text := fmt.Sprint(l.Load.Concurrency)
	if l.Load.Rate.OK {
		text = strconv.FormatFloat(l.Load.Rate.V, 'f', -1, 64) + "/s"
	}
	if !l.Settled {
		text += weakMark
	}
	return text
}

func meanOf(gpus []GPUFigures, of func(*GPUFigures) Number) opt.Float {
	sum, n := 0.0, 0
	for i := range gpus {
		if v := of(&gpus[i]); v.OK {
			sum += v.V
			n++
		}
	}
	if n == 0 {
		return opt.Float{}
	}
	return opt.Of(sum / float64(n))
}

// levels writes a line for each level, with as many columns as fit.
func (t *table) levels(s *SweepSummary) {
	if len(s.Levels) == 0 {
		return
	}
	columns := fitting(levelColumns(), t.width-outcomeWidth)
	t.out.WriteByte('\n')
	row := ""
	for _, c := range columns {
		row += right(c.title, c.width)
	}
	t.line(t.bold(row))
	weak := false
	for i := range s.Levels {
		l := &s.Levels[i]
		row := ""
		for _, c := range columns {
			text := c.cell(l)
			weak = weak || strings.HasSuffix(text, weakMark)
			row += right(text, c.width)
		}
		t.line(row + "  " + s.outcome(l))
	}
	if weak {
		t.line(t.dim(weakMark + " too few samples for this percentile, or a level that had not settled"))
	}
}

// outcomeWidth is room for what stands behind a level.
const outcomeWidth = 14

// outcome is how the level came out, in a few letters.
func (s *SweepSummary) outcome(l *Level) string {
	var parts []string
	switch l.SLOVerdict {
	case "":
	case Text(sweep.Meets.String()):
		parts = append(parts, "ok")
	case Text(sweep.SeemsMeets.String()):
		parts = append(parts, "ok?")
	case Text(sweep.SeemsFails.String()):
		parts = append(parts, "miss?")
	default:
		parts = append(parts, "MISS")
	}
	return strings.Join(append(parts, s.marks(l)...), " ")
}

// marks name what is special about a level.
func (s *SweepSummary) marks(l *Level) []string {
	var out []string
	if s.Best != nil && s.Best.Mark == l.mark() {
		out = append(out, "best")
	}
	if s.Knee != nil && s.Knee.Mark == l.mark() {
		out = append(out, "knee")
	}
	return out
}

// fitting leaves out columns, the least important first, until the rest fits.
func fitting(columns []levelColumn, width int) []levelColumn {
	for {
		total, worst := 0, 0
		for i, c := range columns {
			total += c.width
			if c.rank >= columns[worst].rank {
				worst = i
			}
		}
		if total <= width || columns[worst].rank == 0 {
			return columns
		}
		columns = append(columns[:worst:worst], columns[worst+1:]...)
	}
}

func (t *table) best(s *SweepSummary) {
	b := s.Best
	if b == nil {
		return
	}
	t.heading("within SLO", "", "per s", "per min")
	for _, row := range []struct {
		name           string
		second, minute Number
	}{
		{"requests", b.RequestsPerS, b.RPM},
		{"input tokens", b.InputTPM.Scale(1.0 / 60), b.InputTPM},
		{"output tokens", b.OutputTPM.Scale(1.0 / 60), b.OutputTPM},
		{"total tokens", b.TotalTPM.Scale(1.0 / 60), b.TotalTPM},
	} {
		t.line(pad(row.name, nameWidth+countWidth) + t.cell(row.second, false) + t.cell(row.minute, false))
	}
	t.line(pad("good requests", nameWidth+countWidth) + t.cell(b.GoodputPerS, false) + t.cell(b.GoodputPerS.Scale(60), false))
}
