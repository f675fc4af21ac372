package diagnose

import (
	"fmt"

	"sonde/probe/frame"
	"sonde/probe/units"
)

// fewSuffice reports whether few requests have been long enough to say something: long
// answers may take minutes until there are enough of them.
func fewSuffice(h *history, n int) bool {
	return n >= few && h.now().Client.Gap.N >= gapsForFew && h.seconds() >= secondsForFew
}

// wellbeing is the verdict when no rule finds fault: healthy if there is enough
// to say so, and tokens arrive now.
func wellbeing(h *history) Verdict {
	c := &h.now().Client
	failures := countFailures(h)
	ttft, tpot := h.live()
	have := min(failures.total-failures.failed, ttft.N)
	longest := h.usual.gapLimit(h.atLeast())
	if c.Prefill > 0 {
		longest = max(longest, h.usual.firstLimit(h.atLeast()))
	}
	switch {
	case unloaded(h.now()) && h.now().Load.Stage != frame.StageLoad:
		return beforeLoad(h.now())
	case unloaded(h.now()) && c.InFlight == 0 && failures.total == 0:
		return noLoad(h.now(), "no load yet")
	case unloaded(h.now()) && c.InFlight == 0:
		return noLoad(h.now(), "no load now")
	case unloaded(h.now()):
		return Verdict{Rule: RuleDraining, Text: fmt.Sprintf("no new load, %s still running", units.Count(float64(c.InFlight), "request"))}
	case have < enough && !fewSuffice(h, have):
		return Verdict{Rule: RuleNotEnoughData, Text: fmt.Sprintf("not enough data yet: %d of %d requests", have, enough)}
	case c.InFlight > 0 && h.quiet() >= longest:
		return Verdict{Rule: RuleQuiet, Text: fmt.Sprintf("no token for %s, %s in flight", units.Elapsed(h.quiet()), units.Count(float64(c.InFlight), "request"))}
	}
	text := fmt.Sprintf("healthy: TTFT p95 %s", units.Millis(ttft.P95))
	if have < enough {
		text = fmt.Sprintf("healthy so far: TTFT %s, gaps %s (p50), n %d", units.Millis(ttft.P50), units.Millis(c.Gap.P50), ttft.N)
	} else if tpot.N >= enough {
		text += fmt.Sprintf(", TPOT p95 %s", units.Millis(tpot.P95))
	}
	if failures.failed > 0 {
		text += fmt.Sprintf(", last failure %s ago", units.Elapsed(failures.ago))
	} else {
		text += ", no failures"
	}
	return Verdict{Rule: RuleHealthy, Severity: Healthy, Text: text, Evidence: append(h.inNumbers(), h.throughput(failures.total-failures.failed))}
}

func (h *history) throughput(ok int) string {
	return fmt.Sprintf("%d requests in %.0f s, %.1f requests/s, %.0f output tokens/s", ok, h.seconds(), float64(ok)/h.seconds(), h.outTokens()/h.seconds())
}

// inNumbers is how busy the engine and the GPU are, where they report it.
func (h *history) inNumbers() (out []string) {
	if queued, active := h.engineMean(recent, waiting), h.engineMean(recent, running); queued.OK && active.OK {
		out = append(out, fmt.Sprintf("the engine runs %s, %s queued", units.Count(active.V, "request"), units.Whole(queued.V)))
	}
	if kv := h.engineMean(recent, fullest); kv.OK {
		out = append(out, "KV cache "+units.Share(kv.V))
	}
	if g := h.hardware(); g.sm.OK {
		busy := "GPU SM " + units.Share(g.sm.V)
		if g.dram.OK {
			busy += ", DRAM " + units.Share(g.dram.V)
		}
		out = append(out, busy)
	}
	return out
}

// unloaded reports whether nothing new is to be sent.
func unloaded(f *frame.Frame) bool {
	return f.Load.Requested.Concurrency == 0 && f.Load.Requested.Rate == 0
}

// beforeLoad says what has to be done until the load begins.
func beforeLoad(f *frame.Frame) Verdict {
	v := Verdict{Rule: RuleBeforeLoad, Text: "connecting: looking for the model and the engine", Advice: "nothing to do: the load starts by itself"}
	switch f.Load.Stage {
	case frame.StageLoading:
		v.Text = "the server is loading its model"
		v.Advice = "wait: the load starts by itself when the server is ready"
	case frame.StageFitting:
		v.Text = "fitting the prompt length: asking the server how many tokens a prompt has"
		v.Advice = "nothing to do: the load starts by itself after a few one-token requests, which are excluded from results"
	}
	return v
}

// noLoad says what the engine does without us, where it reports it.
func noLoad(f *frame.Frame, text string) Verdict {
	v := Verdict{Rule: RuleNoLoad, Text: text, Advice: "raise the concurrency"}
	if answers := engineAnswers(f); answers != "" {
		v.Evidence = append(v.Evidence, answers)
	}
	if kv := fullest(f); kv.OK {
		v.Evidence = append(v.Evidence, "KV cache "+units.Share(kv.V)+" full")
	}
	return v
}
