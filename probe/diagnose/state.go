package diagnose

import (
	"fmt"

	"sonde/probe/frame"
)

// enough is how many finished requests a judgement of health needs. Long answers may
// take minutes to be so many: a few in a while, with as many gaps as tell how
// decoding goes, are judged with reserve.
const (
	enough        = 10
	few           = 3
	gapsForFew    = 300
	secondsForFew = 20.0
)

// fewSuffice tells that few requests have been long enough to say something.
func fewSuffice(h *history, n int) bool {
	return n >= few && h.now().Client.Gap.N >= gapsForFew && h.seconds() >= secondsForFew
}

// wellbeing is the verdict when no rule finds fault: healthy if there is enough
// to say so, and tokens arrive now.
func wellbeing(h *history) Verdict {
	c := &h.now().Client
	failures := countFailures(h)
	ok := failures.total - failures.failed
	ttft, tpot := h.ofThisLoad()
	have := min(ok, ttft.N)
	longest := h.usual.gapLimit(h.atLeast())
	if c.Prefill > 0 {
		longest = max(longest, h.usual.firstLimit(h.atLeast()))
	}
	switch {
	case unloaded(h.now()) && h.now().Load.Stage != frame.StageLoad:
		return beforeLoad(h.now())
	case idle(h.now()) && failures.total == 0:
		return noLoad(h.now(), "no load yet")
	case idle(h.now()):
		return noLoad(h.now(), "no load now")
	case unloaded(h.now()):
		return Verdict{Rule: RuleDraining, Text: fmt.Sprintf("no load now, %d requests still end", c.InFlight)}
	case have < enough && !fewSuffice(h, have):
		return Verdict{Rule: RuleNotEnoughData, Text: fmt.Sprintf("not enough data yet: %d of %d requests", have, enough)}
	case c.InFlight > 0 && h.quiet() >= longest:
		return Verdict{Rule: RuleQuiet, Text: fmt.Sprintf("no token for %s, %d requests in flight", wholeSeconds(h.quiet()), c.InFlight)}
	}
	says := fmt.Sprintf("healthy: TTFT p95 %s", millis(ttft.P95))
	if have < enough {
		says = fmt.Sprintf("healthy so far: TTFT %s, gaps %s (p50), n %d", millis(ttft.P50), millis(c.Gap.P50), ttft.N)
	} else if tpot.N >= enough {
		says += fmt.Sprintf(", TPOT p95 %s", millis(tpot.P95))
	}
	if failures.failed > 0 {
		says += fmt.Sprintf(", the last failure %s ago", wholeSeconds(failures.ago))
	} else {
		says += ", no failures"
	}
	return Verdict{Rule: RuleHealthy, Severity: Healthy, Text: says, Evidence: append(h.inNumbers(), fmt.Sprintf(
		"%d requests in %.0f s, %.1f requests/s, %.0f output tokens/s", ok, h.seconds(), float64(ok)/h.seconds(), h.outTokens()/h.seconds()))}
}

// inNumbers is how busy the engine and the GPU are, where they tell.
func (h *history) inNumbers() (out []string) {
	if queued, active := h.engineMean(recent, waiting), h.engineMean(recent, running); queued.OK && active.OK {
		out = append(out, fmt.Sprintf("the engine runs %s, %s in its queue", several(active.V, "request"), count(queued.V)))
	}
	if kv := h.engineMean(recent, fullest); kv.OK {
		out = append(out, "KV cache "+percent(kv.V))
	}
	if active := h.gpuMean(recent, sm); active.OK {
		busy := "GPU SM " + percent(active.V)
		if memory := h.gpuMean(recent, dram); memory.OK {
			busy += ", DRAM " + percent(memory.V)
		}
		out = append(out, busy)
	}
	return out
}

// unloaded tells that nothing new is to be sent.
func unloaded(f *frame.Frame) bool {
	return f.Load.Asked.Concurrency == 0 && f.Load.Asked.Rate == 0
}

func idle(f *frame.Frame) bool { return unloaded(f) && f.Client.InFlight == 0 }

// beforeLoad says what has to be done until the load begins.
func beforeLoad(f *frame.Frame) Verdict {
	v := Verdict{Rule: RuleBeforeLoad, Text: "connecting: model and engine are looked for", Advice: "nothing: the load begins by itself"}
	switch f.Load.Stage {
	case frame.StageLoading:
		v.Text = "the server is loading its model"
		v.Advice = "wait: the load begins by itself when the server is ready"
	case frame.StageFitting:
		v.Text = "fitting the prompt length: the server is asked how many tokens a prompt has"
		v.Advice = "nothing: the load begins by itself after a few requests of one token, which are in no count"
	}
	return v
}

// noLoad says what the engine does without us, where it tells.
func noLoad(f *frame.Frame, says string) Verdict {
	v := Verdict{Rule: RuleNoLoad, Text: says, Advice: "raise the concurrency"}
	if said := engineSays(f); said != "" {
		v.Evidence = append(v.Evidence, said)
	}
	if kv := fullest(f); kv.OK {
		v.Evidence = append(v.Evidence, "KV cache "+percent(kv.V)+" full")
	}
	return v
}
