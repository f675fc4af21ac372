package diagnose_test

import (
	"net/http"
	"time"

	"sonde/probe"
	"sonde/probe/diagnose"
	"sonde/probe/prompt"
	"sonde/probe/sim"
)

// failureScenarios are requests that fail, and answers that are not as asked.
func failureScenarios() []scenario {
	bandwidth := []diagnose.Rule{"bandwidth_bound"}
	return []scenario{
		{name: "everything fails", engine: sim.Options{Faults: sim.Faults{StreamError: 1}}, ask: closed(4, 256, 64), lasts: 15 * time.Second,
			strongest: "all_fail", says: []string{"stream_error"}},
		{name: "the model loads", ask: closed(4, 256, 64), lasts: 8 * time.Second, engine: sim.Options{Faults: sim.Faults{Loading: true}},
			strongest: "loading", says: []string{"still loading"}, also: []diagnose.Rule{"not_enough_data"}},
		{name: "the model has loaded", engine: sim.Options{Faults: sim.Faults{Loading: true, LoadingFor: 10 * time.Second}}, ask: closed(4, 256, 64),
			lasts: 25 * time.Second, strongest: "healthy", may: bandwidth, refuted: []diagnose.Rule{"loading"}},
		{name: "a fifth fails", engine: sim.Options{Faults: sim.Faults{Cut: 0.2}}, ask: closed(4, 256, 64), lasts: 20 * time.Second,
			strongest: "some_fail", says: []string{"connection_lost"}, may: bandwidth},
		{name: "few fail", ask: closed(4, 256, 64), front: refusing(40, http.StatusInternalServerError, "worker died"), lasts: 20 * time.Second,
			strongest: "few_fail", says: []string{"worker died"}, may: bandwidth},
		{name: "a limit on requests", ask: closed(4, 256, 64), front: refusing(4, http.StatusTooManyRequests, "rate limit: 60 requests per minute (RPM)"), lasts: 25 * time.Second,
			strongest: "rate_limits", says: []string{"the limit on requests per minute binds"}, may: bandwidth},
		{name: "a limit on tokens", ask: closed(4, 256, 64), front: refusing(4, http.StatusTooManyRequests, "limit of 90000 tokens per min (TPM) reached"), lasts: 25 * time.Second,
			strongest: "rate_limits", says: []string{"the limit on tokens per minute binds"}, may: bandwidth},
		{name: "prompts are too short", ask: halved(closed(4, 512, 64)), lasts: 12 * time.Second,
			strongest: "prompt_length", also: []diagnose.Rule{"healthy"}, may: bandwidth},
		{name: "answers end by themselves", ask: closed(4, 256, 512), lasts: 30 * time.Second,
			front:     rewriting(func(body map[string]any) { delete(body, "ignore_eos"); delete(body, "min_tokens") }),
			strongest: "short_output", also: []diagnose.Rule{"healthy"}, may: bandwidth},
	}
}

// halves makes prompts of half the length that is asked for.
type halves struct{ prompt.Source }

func (h halves) Next(tokens int) prompt.Prompt {
	p := h.Source.Next(tokens / 2)
	p.Tokens = tokens
	return p
}

func (halves) Learn(prompt.Prompt, int) {}

func halved(o probe.Options) probe.Options {
	o.Prompts = halves{prompt.NewSynthetic(prompt.Unique, 1)}
	return o
}
