package diagnose

import (
	"fmt"
	"slices"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// fewSuffice reports whether a few requests say enough because they are long: it may take
// minutes until there are many.
func fewSuffice(h *history, n int) bool {
	return n >= few && h.now().Client.Gap.N >= gapsForFew && h.seconds() >= secondsForFew
}

// wellbeing is the verdict when no rule finds a fault: healthy if there is enough data and
// tokens arrive now.
func wellbeing(h *history) Verdict {
	c, failed := &h.now().Client, &h.failures
	ok := failed.total - len(failed.all)
	ttft, tpot := h.live()
	have := min(ok, ttft.N)
	longest, idle := h.usual.gapLimit(h.atLeast()), h.now().Load.Requested.IsIdle()
	if c.Prefill > 0 {
		longest = max(longest, h.usual.firstLimit(h.atLeast()))
	}
	switch {
	case h.now().Load.Watch:
		return watching(h.now())
	case idle && h.now().Load.Stage != frame.StageLoad:
		return beforeLoad(h.now())
	case idle && c.InFlight == 0 && failed.total == 0:
		return noLoad(h.now(), "no load yet")
	case idle && c.InFlight == 0:
		return noLoad(h.now(), "no load now")
	case idle:
		return Verdict{Rule: "draining", Text: fmt.Sprintf("no new load, %s still running", units.Count(c.InFlight, "request"))}
	case have < enough && !fewSuffice(h, have):
		return Verdict{Rule: "not_enough_data", Text: fmt.Sprintf("not enough data yet: %d of %d requests", have, enough)}
	case c.InFlight > 0 && h.quiet() >= longest:
		return Verdict{Rule: "quiet", Text: fmt.Sprintf("no token for %s, %s in flight", units.Elapsed(h.quiet()), units.Count(c.InFlight, "request"))}
	}
	text := fmt.Sprintf("healthy: TTFT p95 %s", units.Millis(ttft.P95))
	if have < enough {
		text = fmt.Sprintf("healthy so far: TTFT %s, gaps %s (p50), n %d", units.Millis(ttft.P50), units.Millis(c.Gap.P50), ttft.N)
	} else if tpot.N >= enough {
		text += fmt.Sprintf(", TPOT p95 %s", units.Millis(tpot.P95))
	}
	if ago, ever := h.sinceLast(fails); ever {
		text += fmt.Sprintf(", last failure %s ago", units.Elapsed(ago))
	} else {
		text += ", no failures"
	}
	return h.inNumbers(ok, Verdict{Rule: RuleHealthy, Severity: Healthy, Text: text})
}

// fails reports whether a request failed in the slice.
func fails(f *frame.Frame) bool {
	return slices.ContainsFunc(f.Requests, func(r measure.Request) bool { return r.Class.Failed() && !r.Long })
}

// live returns the live window's TTFT and TPOT in ms, without requests that began under
// another load if the window still reaches back to one.
func (h *history) live() (ttft, tpot measure.Summary) {
	f := h.now()
	if f.At-max(h.since, h.clean) >= f.Client.Window {
		return f.Client.TTFT, f.Client.TPOT
	}
	own := slices.DeleteFunc(h.successes(), func(r *measure.Request) bool { return r.Level != f.Load.Level })
	return summaryOf(own, (*measure.Request).TTFT), summaryOf(own, (*measure.Request).TPOT)
}

// inNumbers adds how busy the engine and the GPU are, where they report it, and how our
// requests went.
func (h *history) inNumbers(ok int, v Verdict) Verdict {
	tokens, seconds, b := 0, h.seconds(), &h.busy
	for _, f := range h.frames {
		if f.At > h.clean {
			tokens += f.Client.SliceOutTokens
		}
	}
	dram := ""
	if b.dram.OK {
		dram = ", DRAM " + units.Share(b.dram.V)
	}
	return finding{Verdict: v}.
		withIf(b.waiting.OK && b.running.OK, "the engine runs %s, %s queued", units.Count(b.running.V, "request"), units.Whole(b.waiting.V)).
		withIf(b.kv.OK, "KV cache %s", units.Share(b.kv.V)).
		withIf(b.sm.OK, "GPU SM %s%s", units.Share(b.sm.V), dram).
		with("%d requests in %.0f s, %.1f requests/s, %.0f output tokens/s", ok, seconds, float64(ok)/seconds, float64(tokens)/seconds).Verdict
}

// beforeLoad says what happens before the load starts.
func beforeLoad(f *frame.Frame) Verdict {
	v := Verdict{Rule: "before_load", Text: "connecting: looking for the model and the engine", Advice: "nothing to do: the load starts by itself"}
	switch f.Load.Stage {
	case frame.StageLoading:
		v.Text = "the server is loading its model"
		v.Advice = "wait: the load starts when the server is ready"
	case frame.StageWorkers:
		v.Text = "waiting for workers to join"
		v.Advice = "start sonde worker on other machines, with the same --nats and --run: the load starts when enough have joined"
	case frame.StageFitting:
		v.Text = "fitting the prompt length: asking the server how many tokens a prompt has"
		v.Advice = "nothing to do: the load starts by itself after a few one-token requests, which are excluded from results"
	}
	return v
}

// watching says what the engine does for its other clients. Nothing will be sent.
func watching(f *frame.Frame) Verdict {
	text, runs, waits := "watching, nothing is sent: no engine metrics", running(f), waiting(f)
	switch {
	case f.Load.Stage != frame.StageLoad:
		text = beforeLoad(f).Text
	case runs.OK:
		text = "watching, nothing is sent: the engine runs " + units.Count(runs.V, "request")
		if waits.OK {
			text += fmt.Sprintf(", %s waiting", units.Whole(waits.V))
		}
	}
	return withoutLoad(f, Verdict{Text: text})
}

// noLoad says that the operator may begin.
func noLoad(f *frame.Frame, text string) Verdict {
	return withoutLoad(f, Verdict{Text: text, Advice: "raise the concurrency"})
}

// withoutLoad adds what the engine does without our load, where it reports it.
func withoutLoad(f *frame.Frame, v Verdict) Verdict {
	v.Rule = "no_load"
	kv := fullest(f)
	return finding{Verdict: v}.
		with("%s", engineAnswers(f)).
		withIf(f.Load.Watch && !f.Engine.Have && f.Engine.Why != "", "engine: %s", f.Engine.Why).
		withIf(kv.OK, "KV cache %s full", units.Share(kv.V)).Verdict
}
