package report

import (
	"cmp"
	"fmt"
	"slices"

	"sonde/probe/report/page"
	"sonde/probe/units"
)

// figureColumns are the columns of a table of figures.
var figureColumns = []page.Column{{Title: "figure", Left: true}, {Title: "value"}}

// because adds to an unknown figure why it is.
func because(value, why string) string {
	if value != units.Unknown || why == "" {
		return value
	}
	return units.Unknown + " (" + why + ")"
}

// rows are the figures of one load.
func (s *Summary) rows() [][]string {
	return slices.Concat(s.lengthRows(), s.flowRows(), s.latencyRows(), s.engineRows(), s.outcomeRows())
}

func (s *Summary) lengthRows() [][]string {
	measured := func(q *Quantiles) string {
		if q.N == 0 {
			return units.Unknown
		}
		return fmt.Sprintf("%s / %s / %s (n %d)", q.at("p50"), q.at("p95"), figure(q.Mean), q.N)
	}
	return [][]string{
		{"prompt requested, tokens", because(s.Load.Prompt(), "given by the prompts file")},
		{"prompt measured, p50 / p95 / mean", because(measured(&s.Lengths.Input), "the server does not count prompts")},
		{"output requested, tokens", s.Load.Answer()},
		{"output measured, p50 / p95 / mean", measured(&s.Lengths.Output)},
		{"token counts from", because(word(s.Tokens.Source), iff(s.Requests.OK == 0, "no request succeeded"))},
		{"prompt prefix", word(s.Load.Prefix)},
	}
}

func (s *Summary) flowRows() [][]string {
	r := &s.Rates
	uncounted := iff(s.Requests.OK > 0, "the server does not count prompts")
	return [][]string{
		{"measured window, s", figure(s.DurationS)},
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

func (s *Summary) latencyRows() [][]string {
	l := &s.LatencyMS
	return [][]string{
		{"TTFT ms, p50 / p95 / p99", three(&l.TTFT)},
		{"TPOT ms, p50 / p95 / p99", three(&l.TPOT)},
		{"E2E ms, p50 / p95 / p99", three(&l.E2E)},
		{"client queue ms, p50 / p95 / p99", three(&l.ClientQueue)},
	}
}

// unseen is why there are no engine figures of an engine that was read: it is read every
// second, and the window was shorter.
const unseen = "no reading of the engine fell within the measured window"

// Seen reports whether the engine was read within the window.
func (e *EngineFigures) Seen() bool {
	return e.RunningMean.OK || e.WaitingMax.OK || e.KVFillMean.OK || e.OutputPerS.OK
}

func (s *Summary) engineRows() [][]string {
	e := &s.Engine
	why := cmp.Or(string(s.Target.Settings.Why), iff(!e.Seen(), "%s", unseen), "the engine does not report it")
	queue := because(units.Unknown, why)
	if q := &e.LatencyMS.Queue; q.N > 0 {
		queue = fmt.Sprintf("%s / %s / %s, est.", q.at("p50"), q.at("p95"), q.at("p99"))
	}
	dark := cmp.Or(string(s.Target.HardwareWhy), iff(len(s.GPUs) > 0, "its source does not report it"))
	return [][]string{
		{"running in the engine, mean", because(figure(e.RunningMean), why)},
		{"waiting in the engine, max", because(figure(e.WaitingMax), why)},
		{"engine queue time ms, p50 / p95 / p99", queue},
		{"KV cache fill, mean", because(percent(e.KVFillMean), why)},
		{"KV cache fill, max", because(percent(e.KVFillMax), why)},
		{"preemptions", because(figure(e.Preemptions), why)},
		{"prefix cache hits", because(percent(e.PrefixHitRate), why)},
		{"GPU SM, mean", because(percent(s.sm), dark)},
		{"GPU DRAM bandwidth, mean", because(percent(s.dram), dark)},
	}
}

func (s *Summary) outcomeRows() [][]string {
	q, c := &s.Requests, &s.Client
	noSLO := iff(len(s.SLO) == 0, "no SLO was given")
	return [][]string{
		{"requests ok / failed / cancelled", fmt.Sprintf("%d / %d / %d", q.OK, q.Failed, q.Cancelled)},
		{"error rate", because(percent(q.ErrorShare()), "no request ended")},
		{"good requests", because(percent(s.GoodShare), noSLO)},
		{"goodput, requests per s", because(figure(s.GoodputPerS), noSLO)},
		{"client: time stamps from", word(c.Stamps)},
		{"client: lateness ms, p99", figure(c.LateMSP99)},
		{"client: CPU, share of one core", percent(c.CPU)},
		{"client: chunks that shared a read", percent(c.CoalescedShare)},
		{"client is the bottleneck", map[bool]string{true: "YES: these figures are about the client", false: "no"}[c.Bottleneck]},
	}
}
