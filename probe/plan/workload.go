package plan

import (
	"errors"
	"fmt"

	"sonde/probe/opt"
)

// Workload is one kind of request and how often it comes. What is 0 was not given.
type Workload struct {
	Name string // "" if there is only one

	// How often, one of:
	RequestsPerS float64
	Users        float64 // each sends its next request ThinkS after the answer to its last
	ThinkS       float64 // seconds; may be 0

	Input, Output float64 // tokens of a request, mean

	// How long, one of:
	E2ES         float64 // seconds to the last token
	TTFTS, TPOTS float64 // seconds: to the first token, and for each further one
}

// Request is the shape of the mean request.
type Request struct {
	InputTokens  float64   `json:"input_tokens"`
	OutputTokens float64   `json:"output_tokens"`
	E2ES         opt.Float `json:"e2e_s"`
}

// name is what the Workload is called on the page.
func (w *Workload) name() string {
	if w.Name == "" {
		return "load"
	}
	return w.Name
}

// request is the shape of the Workload's requests.
func (w *Workload) request() Request {
	return Request{InputTokens: w.Input, OutputTokens: w.Output, E2ES: w.e2e()}
}

// e2e is the time to the last token: E2E = TTFT + TPOT × (output − 1), the
// definition of TPOT turned around.
func (w *Workload) e2e() opt.Float {
	switch {
	case w.E2ES > 0:
		return opt.Of(w.E2ES)
	case w.TTFTS > 0 && (w.TPOTS > 0 || w.Output <= 1):
		return opt.Of(w.TTFTS + w.TPOTS*max(0, w.Output-1))
	}
	return opt.Float{}
}

// rate is requests per second. Users in a closed loop send users / (E2E + think)
// (the response time law of a closed system).
func (w *Workload) rate() opt.Float {
	if w.RequestsPerS > 0 {
		return opt.Of(w.RequestsPerS)
	}
	if e2e := w.e2e(); w.Users > 0 && e2e.OK {
		return opt.Of(w.Users / (e2e.V + w.ThinkS))
	}
	return opt.Float{}
}

// check finds what the arithmetic cannot do without. The rate is not needed where
// only limits are asked for.
func (w *Workload) check(needsRate bool) error {
	problem := w.problem(needsRate)
	if problem == "" {
		return nil
	}
	if w.Name != "" {
		return fmt.Errorf("workload %s: %s", w.Name, problem)
	}
	return errors.New(problem)
}

// most bounds every number, so that no product leaves what a number can hold.
const most = 1e12

// problem is what is wrong, "" if nothing is.
func (w *Workload) problem(needsRate bool) string {
	for _, v := range []float64{w.RequestsPerS, w.Users, w.ThinkS, w.Input, w.Output, w.E2ES, w.TTFTS, w.TPOTS} {
		if !(v >= 0 && v <= most) {
			return "its numbers must be between 0 and 1e12"
		}
	}
	switch {
	case w.Input <= 0:
		return "the prompt length is missing: " + w.hint("input", "6k")
	case w.Output <= 0:
		return "the answer length is missing: " + w.hint("output", "1k")
	case w.RequestsPerS > 0 && w.Users > 0:
		return "a rate and users both set the load: omit one of them"
	case w.ThinkS > 0 && w.Users <= 0:
		return "think is the pause of users: add users, or omit think"
	case needsRate && w.RequestsPerS <= 0 && w.Users <= 0:
		return "the request rate is missing: " + w.hint("qps", "4") + ", " + w.hint("rpm", "240") + " or " + w.hint("users", "100")
	}
	return w.latencyProblem()
}

func (w *Workload) latencyProblem() string {
	switch {
	case w.E2ES > 0 && w.TTFTS+w.TPOTS > 0:
		return "e2e and ttft with tpot both give the latency: omit one of them"
	case w.TTFTS > 0 && w.TPOTS <= 0 && w.Output > 1:
		return "ttft alone does not give the latency: add " + w.hint("tpot", "40ms") + ", or use e2e instead"
	case w.TPOTS > 0 && w.TTFTS <= 0:
		return "tpot alone does not give the latency: add " + w.hint("ttft", "1s") + ", or use e2e instead"
	case w.Users > 0 && !w.e2e().OK:
		return "the request rate of users depends on the latency: add " + w.hint("e2e", "15s") + ", or ttft and tpot"
	}
	return ""
}

// hint is how a value is given: inside a workload, or as a flag.
func (w *Workload) hint(key, example string) string {
	if w.Name == "" {
		return "--" + key + " " + example
	}
	return key + "=" + example
}
