package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sonde/probe/opt"
)

// reportRow is a figure of a report: its name, and its value as Markdown.
type reportRow struct{ name, value string }

// hardware is the GPUs in words; "" if none were seen.
func (t *Target) hardware() string {
	parts := []string{}
	for _, h := range t.Hardware {
		parts = append(parts, fmt.Sprintf("%d × %s", h.Count, plain(cmp.Or(h.Name, "GPU"))))
	}
	return strings.Join(parts, ", ")
}

// engine is its name and version.
func (t *Target) engine() string {
	return strings.TrimSpace(word(Text(cmp.Or(t.Name, string(t.Engine)))) + " " + plain(string(t.EngineVersion)))
}

// because adds to an unknown figure why it is.
func because(value, why string) string {
	if value != unknown || why == "" {
		return value
	}
	return unknown + " (" + escape(plain(why)) + ")"
}

// rows say what was measured, and how it is set up as far as it tells.
func (t *Target) rows() []reportRow {
	s := &t.Settings
	why := cmp.Or(string(s.Why), "the server does not tell")
	known := func(f opt.Float) string { return because(count(f), why) }
	kv := count(s.KVCapacityTokens)
	if !s.KVCapacityTokens.OK && s.KVCapacityBlocks.OK {
		kv = count(s.KVCapacityBlocks) + " blocks"
	}
	rows := []reportRow{
		{"model", escape(word(t.Model))},
		{"hardware (GPUs seen)", because(escape(cmp.Or(t.hardware(), unknown)), string(t.HardwareWhy))},
		{"engine", escape(t.engine())},
		{"max model length, tokens", known(s.MaxModelLen)},
		{"KV cache, tokens", because(kv, why)},
		{"KV cache block, tokens", known(s.KVBlockTokens)},
		{"requests that run at once, at most", known(s.MaxRunning)},
	}
	if s.MaxInputLen.OK {
		rows = append(rows, reportRow{"longest prompt, tokens", whole(s.MaxInputLen)})
	}
	if s.Ranks.V > 1 {
		rows = append(rows, reportRow{"ranks or replicas, added up", whole(s.Ranks)})
	}
	if len(s.About) > 0 {
		rows = append(rows, reportRow{"other settings seen", escape(plain(strings.Join(s.About, ", ")))})
	}
	return rows
}

// rows are the figures of one load.
func (s *Summary) rows() []reportRow {
	return slices.Concat(s.lengthRows(), s.flowRows(), s.latencyRows(), s.engineRows(), s.outcomeRows())
}

func (s *Summary) lengthRows() []reportRow {
	measured := func(q *Quantiles) string {
		if q.N == 0 {
			return unknown
		}
		return fmt.Sprintf("%s / %s / %s (n %d)", marked(*q, "p50", q.P50), marked(*q, "p95", q.P95), figure(q.Mean), q.N)
	}
	return []reportRow{
		{"prompt asked, tokens", because(whole(s.Load.InputTokens), "as long as the texts given")},
		{"prompt measured, p50 / p95 / mean", because(measured(&s.Lengths.Input), "the server counts no prompts")},
		{"output asked, tokens", fmt.Sprint(s.Load.OutputTokens)},
		{"output measured, p50 / p95 / mean", measured(&s.Lengths.Output)},
		{"tokens counted by", because(escape(word(s.Tokens.Source)), iff(s.Requests.OK == 0, "no request succeeded"))},
		{"prefix of the prompts", escape(word(s.Load.Prefix))},
	}
}

func (s *Summary) flowRows() []reportRow {
	r := &s.Rates
	uncounted := iff(s.Requests.OK > 0, "the server counts no prompts")
	return []reportRow{
		{"window s", figure(s.DurationS)},
		{"requests per s (QPS)", figure(r.RequestsPerS)},
		{"requests per min (RPM)", grouped(r.RPM)},
		{"input tokens per min", because(grouped(r.InputTPM), uncounted)},
		{"output tokens per min", grouped(r.OutputTPM)},
		{"total tokens per min (TPM)", because(grouped(r.TotalTPM), uncounted)},
		{"output tokens per s", grouped(r.OutputPerS)},
		{"output tokens per s per stream", figure(r.OutputPerSStream)},
		{"streams in flight, mean", figure(s.ConcurrencyMean)},
		{"Little's law: in flight / (requests per s × mean E2E)", figure(s.LittleRatio)},
	}
}

func (s *Summary) latencyRows() []reportRow {
	l := &s.LatencyMS
	return []reportRow{
		{"TTFT ms, p50 / p95 / p99", three(&l.TTFT)},
		{"TPOT ms, p50 / p95 / p99", three(&l.TPOT)},
		{"E2E ms, p50 / p95 / p99", three(&l.E2E)},
		{"client queue ms, p50 / p95 / p99", three(&l.ClientQueue)},
	}
}

func (s *Summary) engineRows() []reportRow {
	e := &s.Engine
	why := cmp.Or(string(s.Target.Settings.Why), "the engine does not tell")
	queue := because(unknown, why)
	if q := &e.LatencyMS.Queue; q.N > 0 {
		queue = fmt.Sprintf("%s / %s / %s, est.", q.bound("p50", q.P50), q.bound("p95", q.P95), q.bound("p99", q.P99))
	}
	sm := meanOf(s.GPUs, func(g *GPUFigures) Number { return g.SMMean })
	dram := meanOf(s.GPUs, func(g *GPUFigures) Number { return g.DRAMMean })
	dark := cmp.Or(string(s.Target.HardwareWhy), iff(len(s.GPUs) > 0, "its source does not tell"))
	return []reportRow{
		{"running in the engine, mean", because(figure(e.RunningMean), why)},
		{"waiting in the engine, max", because(figure(e.WaitingMax), why)},
		{"time in the engine's queue ms, p50 / p95 / p99", queue},
		{"KV cache fill, mean", because(percent(e.KVFillMean), why)},
		{"KV cache fill, max", because(percent(e.KVFillMax), why)},
		{"preemptions", because(figure(e.Preemptions), why)},
		{"prefix cache hits", because(percent(e.PrefixHitRate), why)},
		{"GPU SM, mean", because(percent(sm), dark)},
		{"GPU DRAM bandwidth, mean", because(percent(dram), dark)},
	}
}

// bound writes a quantile of an estimate, or what is known of it.
func (e *Estimate) bound(p string, v Number) string {
	if above, beyond := e.Above[p]; beyond {
		return ">" + figure(above)
	}
	if below, lowest := e.Below[p]; lowest {
		return "&lt;" + figure(below)
	}
	return figure(v)
}

func (s *Summary) outcomeRows() []reportRow {
	q, c := &s.Requests, &s.Client
	noSLO := iff(len(s.SLO) == 0, "no service levels were asked")
	return []reportRow{
		{"requests ok / failed / cancelled", fmt.Sprintf("%d / %d / %d", q.OK, q.Failed, q.Cancelled)},
		{"error rate", because(percent(ratio(q.Failed, q.OK+q.Failed)), "no request ended")},
		{"good requests", because(percent(s.GoodShare), noSLO)},
		{"goodput, requests per s", because(figure(s.GoodputPerS), noSLO)},
		{"client: stamps by", word(c.Stamps)},
		{"client: late ms, p99", figure(c.LateMSP99)},
		{"client: CPU, of one core", percent(c.CPU)},
		{"client: chunks that came in one read", percent(c.CoalescedShare)},
		{"client is the bottleneck", map[bool]string{true: "**yes**: these figures are about the client", false: "no"}[c.Bottleneck]},
	}
}
