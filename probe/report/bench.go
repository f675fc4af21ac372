package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/opt"
	"sonde/probe/report/page"
	"sonde/probe/units"
)

// The table's columns: a name, a count, then figures. Seven figures make 77
// cells, which fits the narrowest usual terminal.
const (
	nameWidth   = 14
	countWidth  = 7
	figureWidth = 8
)

// weakMark follows a percentile with too few samples behind it.
const weakMark = page.Weak

// Text is the Summary for people.
func (s Summary) Text(width int, color bool) string {
	t := page.Text{Width: width, Color: color}
	s.head(&t)
	latency := s.latencySection(false)
	latency.Lines = append(latency.Lines, s.floor()...)
	for _, section := range []page.Section{
		s.requestSection(), latency, turnSection("", s.Turns), s.lengthSection(), s.rateSection(), s.workerSection(), clientSection(s.Clients), s.engineSection(), s.gpuSection(),
		s.sloSection(), errorSection(s.Errors), noteSection(s.Notes), verdictSection(s.Verdict), incidentSection(s.Incidents),
	} {
		t.Section(section)
	}
	return t.String()
}

// Markdown is the Summary as a report: the conclusion first, then the figures.
func (s Summary) Markdown() string {
	m := s.opening(word(s.Target.Model), s.Load.Mode+" loop, "+s.Load.describe()+s.Load.talk(), s.conclusion())
	for _, section := range []page.Section{
		s.Target.section(), {Title: "Figures", Columns: figureColumns, Rows: s.rows()}, s.latencySection(true), turnSection("Turns", s.Turns), s.lengthSection(), s.workerSection(), clientSection(s.Clients),
		s.sloSection(), verdictSection(s.Verdict), incidentSection(s.Incidents), errorSection(s.Errors), noteSection(s.Notes),
	} {
		m.Section(section)
	}
	return m.String()
}

// opening begins a report in Markdown: what was measured, and the conclusion.
func (r *Run) opening(title, setting string, conclusion []string) *page.Markdown {
	m := &page.Markdown{}
	m.Linef("## %s", page.Escape(title))
	when := ""
	if !r.Started.IsZero() {
		when = r.Started.UTC().Format(" · 2006-01-02 15:04 UTC")
	}
	m.Linef("\n%s · %s%s%s", page.Escape(word(r.Target.URL)), page.Escape(setting), r.seed(), when)
	if r.Interrupted {
		m.Linef("\n**Interrupted**: these are the results so far.")
	} else if r.EndedEarly != "" {
		m.Linef("\nEnded early: %s", page.Escape(string(r.EndedEarly)))
	}
	m.Linef("\n%s", strings.Join(conclusion, " "))
	return m
}

func (s *Summary) head(t *page.Text) {
	command := "sonde bench"
	if n := len(s.Clients); n > 0 {
		command = fmt.Sprintf("sonde merge, %d clients", n)
	}
	t.Line(t.Bold(command) + "  " + word(s.Target.URL))
	t.Line(s.Target.line())
	t.Line(s.Load.line())
	t.Line(fmt.Sprintf("prompt %s%s → %s tok · output %s → %s tok · counted by %s", s.Load.Prompt(), iff(s.Load.Turns > 1, " a turn"), s.perRequest(s.Tokens.Input),
		s.Load.Answer(), s.perRequest(opt.Of(float64(s.Tokens.Output))), word(s.Tokens.Source)))
	t.Line(fmt.Sprintf("window %s s%s%s", figure(s.DurationS), s.seed(), s.cut()))
}

// line is the load on a line of its own. A trace has the prefixes of its requests.
func (l *Load) line() string {
	if l.Trace.Name != "" {
		return l.describe()
	}
	return fmt.Sprintf("%s loop, %s%s · prefix %s", l.Mode, l.describe(), l.talk(), word(l.Prefix))
}

// cut marks a run that is not complete.
func (r *Run) cut() string {
	switch {
	case r.Interrupted:
		return " · INTERRUPTED"
	case r.EndedEarly != "":
		return " · ENDED EARLY"
	}
	return ""
}

// describe says what keeps the requests coming.
func (l *Load) describe() string {
	if l.Trace.Name != "" {
		return l.Trace.describe(l.Concurrency)
	}
	if l.Rate.OK {
		rate := figure(l.Rate) + " requests/s"
		if r := &l.Ramp; r.OverS.OK {
			rate = fmt.Sprintf("%s to %s/s in %s s", units.Digits3(r.From.V), units.Digits3(r.To.V), units.Whole(r.OverS.V))
		}
		return fmt.Sprintf("%s, %s, at most %d in flight", rate, word(l.Arrivals), l.Concurrency)
	}
	return fmt.Sprintf("concurrency %d", l.Concurrency)
}

// perRequest is the mean of a sum over the requests that succeeded.
func (s *Summary) perRequest(sum opt.Float) string {
	if s.Requests.OK == 0 {
		return units.Unknown
	}
	return whole(sum.Scale(1 / float64(s.Requests.OK)))
}

// latencySection are the distributions: those of the client, then the estimates of the
// engine. Unless all are wanted, those that say nothing new are omitted.
func (s *Summary) latencySection(all bool) page.Section {
	out := page.Section{Columns: distributionColumns("latency ms")}
	l, e, weak := &s.LatencyMS, &s.Engine.LatencyMS, false
	for _, d := range []struct {
		name  string
		q     *Quantiles
		shown bool
	}{
		{"TTFT", &l.TTFT, true}, {"TTFA", &l.TTFA, l.TTFA.N > 0 && l.TTFA.P50 != l.TTFT.P50}, {"TPOT", &l.TPOT, true}, {"gap", &l.Gap, true},
		{"E2E", &l.E2E, true}, {"setup", &l.Setup, true}, {"client queue", &l.ClientQueue, true}, {"from schedule", &l.FromSchedule, s.Load.Rate.OK},
	} {
		if !d.shown && !all {
			continue
		}
		q := d.q
		weak = weak || q.N > 0 && len(q.Weak) > 0
		out.Rows = append(out.Rows, q.row(d.name))
	}
	for _, d := range []struct {
		name string
		e    *Estimate
	}{{"engine TTFT", &e.TTFT}, {"engine gap", &e.Gap}, {"engine queue", &e.Queue}, {"engine E2E", &e.E2E}} {
		if e := d.e; e.N > 0 {
			out.Rows = append(out.Rows, []string{d.name, fmt.Sprint(e.N), figure(e.Mean), e.at("p50"), "", e.at("p95"), e.at("p99"), "", "est."})
		}
	}
	if weak {
		out.Lines = []string{weakMark + " too few samples for this percentile"}
	}
	return out
}

// distributionColumns are those of Quantiles.row.
func distributionColumns(title string) []page.Column {
	columns := []page.Column{{Title: title, Width: nameWidth, Left: true}, {Title: "n", Width: countWidth}}
	for _, title := range []string{"mean", "p50", "p90", "p95", "p99", "p99.9", "max"} {
		columns = append(columns, page.Column{Title: title, Width: figureWidth})
	}
	return columns
}

func (q *Quantiles) row(name string) []string {
	return []string{name, fmt.Sprint(q.N), figure(q.Mean), q.at("p50"), q.at("p90"), q.at("p95"), q.at("p99"), q.at("p999"), figure(q.Max)}
}

// lengthSection has the lengths that were requested beside those that the server counted, where
// they scatter.
func (s *Summary) lengthSection() page.Section {
	if s.Load.InputSpread == "" && s.Load.OutputSpread == "" {
		return page.Section{}
	}
	const counted = "  as counted"
	l := &s.Lengths
	return page.Section{Columns: distributionColumns("tokens"), Rows: [][]string{
		l.RequestedInput.row("prompt"), l.Input.row(counted), l.RequestedOutput.row("output"), l.Output.row(counted),
	}}
}

// at writes a percentile ("p50", "p999"), with a mark if too few samples are behind it.
func (q *Quantiles) at(name string) string {
	text := ""
	for _, p := range percentiles {
		if p.name == name {
			text = figure(p.of(q))
		}
	}
	if q.N > 0 && slices.Contains(q.Weak, name) {
		text += weakMark
	}
	return text
}

// at writes a quantile of an estimate, or what is known of it.
func (e *Estimate) at(p string) string {
	if above, beyond := e.Above[p]; beyond {
		return ">" + figure(above)
	}
	if below, lowest := e.Below[p]; lowest {
		return "<" + figure(below)
	}
	return figure(map[string]Number{"p50": e.P50, "p95": e.P95, "p99": e.P99}[p])
}

func (s *Summary) sloSection() page.Section {
	out := page.Section{Title: "SLOs", Columns: []page.Column{{Title: "SLO", Width: 2*nameWidth + 1, Left: true}, {Title: "result", Width: figureWidth + 1, Left: true}, {Title: "measured", Left: true}}}
	for i := range s.SLO {
		r := &s.SLO[i]
		result := "unknown"
		if r.Met != nil {
			result = map[bool]string{true: "met", false: "MISSED"}[*r.Met]
		}
		out.Rows = append(out.Rows, []string{r.SLO, result, r.ActualText()})
	}
	if len(s.SLO) > 0 {
		out.Lines = []string{fmt.Sprintf("good requests %s, %s per s", percent(s.GoodShare), figure(s.GoodputPerS))}
	}
	return out
}

func errorSection(list []ErrorCount) page.Section {
	out := page.Section{Title: "errors"}
	for i := range list {
		out.Items = append(out.Items, page.Item{Mark: fmt.Sprintf("%5d × ", list[i].Count), Text: named(&list[i])})
	}
	return out
}

// named is the message with its class, which some messages name themselves.
func named(e *ErrorCount) string {
	if class := string(e.Class) + ":"; !strings.HasPrefix(e.Message, class) {
		return class + " " + e.Message
	}
	return e.Message
}

func noteSection(notes []string) page.Section {
	out := page.Section{Title: "notes"}
	for _, n := range notes {
		out.Items = append(out.Items, page.Item{Mark: "- ", Text: n})
	}
	return out
}

// verdictSection are findings with their evidence and what to do.
func verdictSection(list []Verdict) page.Section {
	out := page.Section{Title: "verdicts"}
	for _, v := range list {
		item := page.Item{Mark: "▲ ", Text: v.Says}
		if v.Rule == string(diagnose.RuleHealthy) {
			item.Mark = "● "
		}
		for _, e := range v.Evidence {
			item.Sub = append(item.Sub, page.Item{Mark: "    ", Text: e})
		}
		if v.Advice != "" {
			item.Sub = append(item.Sub, page.Item{Mark: "  → ", Text: v.Advice})
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// incidentSection lists the bad times of the run, by the seconds of the session.
func incidentSection(list []Incident) page.Section {
	out := page.Section{Title: "incidents"}
	for _, i := range list {
		seconds := func(n Number) time.Duration { return time.Duration(n.V * float64(time.Second)) }
		span := (&diagnose.Incident{From: seconds(i.FromS), To: seconds(i.ToS), Open: !i.ToS.OK}).Span()
		out.Items = append(out.Items, page.Item{Mark: "- ", Text: span + ", " + i.Severity + ": " + i.Says})
	}
	return out
}

// The sections below are only in text: Markdown lists the same figures as rows.

func (s *Summary) requestSection() page.Section {
	r := &s.Requests
	lines := []string{fmt.Sprintf("sent %d   ok %d   failed %d   cancelled %d   excluded %d", r.Sent, r.OK, r.Failed, r.Cancelled, r.Excluded)}
	if n := r.ByClass["loading"]; n > 0 {
		lines = append(lines, fmt.Sprintf("%d more were refused while the model was loading", n))
	}
	return page.Section{Title: "requests", Lines: lines}
}

// floor is what the hardware allows at least, and how near the run came.
func (s *Summary) floor() []string {
	r := &s.Roofline
	var floors, parts []string
	if r.TPOTFloorMS.OK {
		floors = append(floors, "TPOT "+figure(r.TPOTFloorMS)+" ms"+distance(s.LatencyMS.TPOT.Mean, r.TPOTFloorMS.V))
	}
	if r.TTFTFloorMS.OK {
		floors = append(floors, "TTFT "+figure(r.TTFTFloorMS)+" ms")
	}
	if len(floors) > 0 {
		parts = append(parts, "floor: "+strings.Join(floors, ", "))
	}
	if r.MBU.OK {
		parts = append(parts, "MBU "+whole(r.MBU.Scale(100))+" %")
	}
	if r.MFU.OK {
		parts = append(parts, "MFU "+whole(r.MFU.Scale(100))+" %")
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{strings.Join(parts, " · ")}
}

// distance is how a mean compares with its floor. Below it something is other than
// assumed: several tokens per step, or other hardware.
func distance(mean Number, floor float64) string {
	switch {
	case !mean.OK || floor <= 0:
		return ""
	case mean.V < floor:
		return " (the mean is below it)"
	}
	return fmt.Sprintf(" (%.1f× above)", mean.V/floor)
}

func (s *Summary) rateSection() page.Section {
	out := s.Rates.section("rates")
	out.Rows = append(out.Rows, []string{"output / stream", figure(s.Rates.OutputPerSStream), ""})
	t, c := &s.Tokens, &s.Client
	out.Lines = []string{
		fmt.Sprintf("streams in flight %s (Little %s) · tokens per chunk %s", figure(s.ConcurrencyMean), figure(s.LittleRatio), figure(t.PerChunk)),
		fmt.Sprintf("of the tokens: reasoning %d · cached input %s · partial output %d", t.Reasoning, whole(t.CachedInput), t.PartialOutput),
		fmt.Sprintf("client: %s stamps · late %s ms p99 · CPU %s of a core · bursts %s", word(c.Stamps), figure(c.LateMSP99), percent(c.CPU), percent(c.CoalescedShare)),
	}
	return out
}

// section is a table of the rates, per second and per minute.
func (r *Rates) section(title string) page.Section {
	return page.Section{
		Columns: []page.Column{{Title: title, Width: nameWidth + countWidth, Left: true}, {Title: "per s", Width: figureWidth}, {Title: "per min", Width: figureWidth}},
		Rows: [][]string{
			{"requests", figure(r.RequestsPerS), figure(r.RPM)},
			{"output tokens", figure(r.OutputPerS), figure(r.OutputTPM)},
			{"input tokens", figure(r.InputPerS), figure(r.InputTPM)},
			{"total tokens", figure(r.TotalPerS), figure(r.TotalTPM)},
		},
	}
}

func (s *Summary) engineSection() page.Section {
	e := &s.Engine
	switch {
	case e.Seen():
	case s.Target.metricsOff:
		return page.Section{}
	case s.Target.Settings.Why != "":
		return page.Section{Title: "engine", Lines: []string{"no readings: the notes say why"}}
	default:
		return page.Section{Title: "engine", Lines: []string{unseen}}
	}
	return page.Section{Title: "engine", Lines: []string{
		fmt.Sprintf("running %s mean · waiting %s max · KV cache %s mean, %s max", figure(e.RunningMean), figure(e.WaitingMax), percent(e.KVFillMean), percent(e.KVFillMax)),
		fmt.Sprintf("preemptions %s · prefix hits %s · output %s tok/s", figure(e.Preemptions), percent(e.PrefixHitRate), figure(e.OutputPerS)),
	}}
}

func (s *Summary) gpuSection() page.Section {
	out := page.Section{Title: "GPUs"}
	for i, g := range s.GPUs {
		out.Lines = append(out.Lines, fmt.Sprintf("%d %s", i, g.Name), fmt.Sprintf("  SM %s · DRAM %s · busy %s · %s · %s W · %s",
			percent(g.SMMean), percent(g.DRAMMean), percent(g.BusyMean), gib(g.MemUsedMax), figure(g.PowerWMean), g.Source))
	}
	return out
}
