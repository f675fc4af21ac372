package diagnose

import (
	"fmt"
	"math"

	"sonde/probe/measure"
)

// shortOutput finds answers that end before the length asked for.
type shortOutput struct {
	got, asked float64 // mean tokens
	n, stopped int
}

func (r *shortOutput) check(h *history) outcome {
	const fewest = 5
	got, asked := 0, 0
	h.successes(func(q *measure.Request) {
		if q.AskedOut == 0 || q.OutTokens == 0 {
			return
		}
		r.n++
		got += q.OutTokens
		asked += q.AskedOut
		if q.Finish == "stop" {
			r.stopped++
		}
	})
	if r.n < fewest {
		return unclear
	}
	r.got, r.asked = float64(got)/float64(r.n), float64(asked)/float64(r.n)
	return found(r.got < 0.9*r.asked)
}

func (r *shortOutput) verdict() Verdict {
	return Verdict{
		Severity: Info,
		Text:     fmt.Sprintf("answers are shorter than asked: %s of %s tokens", count(r.got), count(r.asked)),
		Evidence: []string{fmt.Sprintf("mean of %d requests, %d of them ended by the model itself", r.n, r.stopped)},
		Advice:   "figures hold for the measured length; a server that knows ignore_eos can be made to go on",
	}
}

// promptLength finds prompts that are not as long as asked.
type promptLength struct {
	got, asked float64 // mean tokens
	n          int
}

func (r *promptLength) check(h *history) outcome {
	const fewest = 5
	got, asked := 0, 0
	h.successes(func(q *measure.Request) {
		if q.AskedIn > 0 && q.InTokens > 0 {
			r.n++
			got += q.InTokens
			asked += q.AskedIn
		}
	})
	if r.n < fewest {
		return unclear
	}
	r.got, r.asked = float64(got)/float64(r.n), float64(asked)/float64(r.n)
	const few = 16 // tokens: a chat template has as many
	return found(math.Abs(r.got/r.asked-1) > 0.1 && math.Abs(r.got-r.asked) > few)
}

func (r *promptLength) verdict() Verdict {
	return Verdict{
		Severity: Info,
		Text:     fmt.Sprintf("prompts are %s tokens long, %s were asked for", count(r.got), count(r.asked)),
		Evidence: []string{fmt.Sprintf("mean of %d requests by the server's count, with its chat template", r.n)},
		Advice:   "figures hold for the measured length",
	}
}
