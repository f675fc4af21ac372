package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"sonde/gpu"
	"sonde/probe/bench"
	"sonde/probe/engine"
	"sonde/probe/length"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// remarks are all notes of a run, most important first.
func remarks(o *bench.Outcome) []string {
	l := &o.Level
	t := &l.Tokens
	out := []string{
		iff(!o.Interrupted && endedEarly(o) != "", "ended early: %s", endedEarly(o)),
		notReady(o),
		iff(l.Client.Behind > 0, "this client was the bottleneck for %.0f %% of the window: %s", max(1, 100*l.Client.Behind), l.Client.BehindWhy),
		iff(o.Warmup > 0, "warm-up: %s excluded from results", units.Count(o.Warmup, "request")),
		iff(l.Excluded > 0, "requests excluded from latencies: %d (this process was stopped while they ran)", l.Excluded),
		behindSchedule(o),
	}
	out = append(out, aboutTrace(l.Replay)...)
	out = append(out,
		iff(t.WholeReplies > 0, "%s that were not streamed: without TTFT, gap and TPOT", units.Count(t.WholeReplies, "response")),
		uncounted(l),
		promptsNotHonoured(l),
		answersNotHonoured(l),
		iff(t.PerChunk().Or(1) > measure.ManyPerChunk, "%.1f tokens per chunk: a gap spans several tokens", t.PerChunk().V),
		iff(t.PerChunk().Or(1) < measure.FewPerChunk, "%.2g tokens per chunk of text: usage may leave tokens out, so that TPOT and tokens per second contradict the gaps", t.PerChunk().V),
		iff(t.CoalescedShare().Or(0) > 0.5, "delivered in bursts: %.0f %% of chunks arrived in the same read as another", 100*t.CoalescedShare().V),
		iff(l.Cancelled > 0 && !o.Interrupted, "%s still running after the drain, and cancelled", units.Count(l.Cancelled, "stream")),
		iff(l.Engine.Restarts > 0, "the engine restarted: the intervals around it are excluded from its figures"),
	)
	out = append(out, aboutEngine(&l.Sources))
	out = append(out, l.Sources.Target.Notes...)
	out = append(out, l.Sources.Settings.GoneText())
	out = append(out, aboutGPUs(l)...)
	for _, n := range l.Notes {
		out = append(out, n.Text+iff(n.Count > 1, " (%d times)", n.Count))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// endedEarly says why a run ended before it was done; "" if it was.
func endedEarly(o *bench.Outcome) string {
	switch {
	case o.Interrupted:
		return "interrupted"
	case o.Refused:
		return "the server refuses the prompt as too long: " + o.TooLong
	case o.LoadGone:
		return "the load was removed"
	case o.Wait > 0:
		return "the server asked to wait " + units.Span(o.Wait) + " before the next request"
	}
	return ""
}

func notReady(o *bench.Outcome) string {
	n := o.Level.ByClass[measure.Loading]
	if n > 0 && !o.Ready {
		return fmt.Sprintf("the server was still loading its model (%d refusals): nothing was measured", n)
	}
	return iff(n > 0, "the server was loading its model (%d refusals): the window starts at the first success", n)
}

// waitsForSlot is a median wait in the client, in ms, that is more than the time
// it takes to start a request.
const waitsForSlot = 20

// behindSchedule says how far an open loop stayed below the requested rate. A
// rate that is low without waiting is chance: Poisson drew fewer arrivals.
func behindSchedule(o *bench.Outcome) string {
	l := &o.Level
	requested, got := meanRate(l), l.RequestsPerS
	return iff(l.Load.Trace == "" && requested > 0 && got.OK && got.V < 0.95*requested && l.ClientQueue.N > 0 && l.ClientQueue.P50 > waitsForSlot,
		"only %.1f of %.1f requests per second were sent: requests had to wait for a free stream", got.V, requested)
}

// meanRate is how many requests per second were due while the level's rates were taken.
func meanRate(l *level.Level) float64 {
	if l.Load.Ramp.Over == 0 || l.Held <= 0 {
		return l.Load.Rate
	}
	rate, from := l.Load.Schedule(), max(0, l.From-l.Since)
	return (rate.Count(from+l.Held) - rate.Count(from)) / l.Held.Seconds()
}

// notHonoured says that prompts or answers have another length than was requested. One
// token and one per cent are what fitting a length leaves.
func notHonoured(what string, requested float64, d *measure.Summary) string {
	off := math.Abs(d.Mean - requested)
	return iff(requested > 0 && d.N > 0 && off > max(1, 0.01*requested),
		"%s have %s tokens instead of the requested %s: figures hold for the measured length",
		what, units.WholeCommas(d.Mean), units.WholeCommas(requested))
}

// requestedMean is the mean length that was requested: with a spread, of the requests that were sent.
func requestedMean(l *level.Level, asked length.Length, drawn *measure.Summary) float64 {
	if (asked.Shape != length.Shape{} || l.Load.Trace != "") && drawn.N > 0 {
		return drawn.Mean
	}
	return float64(asked.Mean)
}

// promptsNotHonoured goes by the first turn of conversations: later prompts are longer by their history.
func promptsNotHonoured(l *level.Level) string {
	counted := l.InputLengths
	if len(l.Turns) > 0 {
		first := &l.Turns[0]
		counted = measure.Summary{N: first.N, Mean: first.Input.Or(0)}
		if !first.Input.OK {
			return ""
		}
	}
	return notHonoured("prompts", requestedMean(l, l.Load.Input(), &l.RequestedInputs), &counted)
}

// answersNotHonoured leaves out answers that nobody but us counted, by chunks, and those of
// a prompt file, whose lines may have limits of their own.
func answersNotHonoured(l *level.Level) string {
	if l.Tokens.BySource[measure.Chunks] > 0 || l.Load.InputTokens == 0 {
		return ""
	}
	return notHonoured("answers", requestedMean(l, l.Load.Output(), &l.RequestedOutputs), &l.OutputLengths)
}

// uncounted says which token counts do not come from the server.
func uncounted(l *level.Level) string {
	t := &l.Tokens
	n, ok := t.BySource[measure.Chunks], l.OK
	input := iff(t.Uncounted > 0, "; input tokens are unknown")
	switch {
	case n == 0:
		return iff(t.Uncounted > 0, "input tokens are unknown: the server did not count the prompts of %d of %d successful requests", t.Uncounted, ok)
	case n == ok:
		return "token counts are estimates: no usable usage came, so chunks were counted" + input
	}
	return fmt.Sprintf("%d of %d successful requests came without usage: their token counts are estimates (chunks)%s", n, ok, input)
}

// aboutEngine says why the engine was not read, or since when.
func aboutEngine(s *level.Sources) string {
	why := cmp.Or(s.EngineWhy, s.Identity.MetricsWhy)
	switch {
	case s.Engine == engine.Off || why == "":
		return ""
	case !s.Read:
		return "no engine readings: " + why
	case s.Unread > 0:
		return fmt.Sprintf("engine readings ended at %s, %s before the end: %s", s.LastRead.Local().Format(time.TimeOnly), units.Span(s.Unread), why)
	}
	return iff(s.Identity.MetricsURL != "" && s.Identity.MetricsWhy != "", "the engine's metrics page was not read: %s", s.Identity.MetricsWhy)
}

// aboutGPUs says why there are no GPUs, or what is missing of those that there are.
func aboutGPUs(l *level.Level) []string {
	s := &l.Sources.GPU
	if len(l.GPUs) == 0 && len(s.GPUs) == 0 {
		if s.State != gpu.Tried || s.Why == "" {
			return nil
		}
		return []string{"no GPU readings: " + s.Why}
	}
	var out []string
	for i := range s.GPUs {
		r := &s.GPUs[i]
		note := ""
		if r.Lost {
			note = fmt.Sprintf("GPU %d: %s", r.Index, r.Note)
		} else if r.Note != "" && r.Parent == "" {
			note = "GPUs: " + r.Note
		}
		if note != "" && !slices.Contains(out, note) && len(out) < maxNotes {
			out = append(out, note)
		}
	}
	return out
}
