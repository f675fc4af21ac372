package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/measure"
)

// loading finds a server that refuses everything because its model is not ready.
type loading struct {
	refused int
	again   bool // it has worked before
	seconds float64
}

func (r *loading) check(h *history) outcome {
	const shortest = time.Second // since the last answer
	c := &h.now().Client
	r.again, r.seconds = c.OK > 0, h.seconds()
	var lastOK time.Duration
	answered := false
	for _, f := range h.frames {
		for i := range f.Requests {
			switch f.Requests[i].Class {
			case measure.Loading:
				r.refused++
			case measure.OK:
				r.refused, lastOK, answered = 0, f.At, true
			}
		}
	}
	switch {
	case r.refused == 0, c.InFlight > c.Prefill, answered && h.now().At-lastOK < shortest:
		return absent
	case c.OldestWaiting >= unheardOf:
		return absent // it hangs now
	}
	return holds
}

func (r *loading) verdict() Verdict {
	v := Verdict{
		Severity: Info, Text: "the server is still loading its model",
		Evidence: []string{fmt.Sprintf("%d requests were refused as too early in the last %.0f s", r.refused, r.seconds)},
		Advice:   "wait: measuring starts with the first success",
	}
	if r.again {
		v.Severity = Warn
		v.Text = fmt.Sprintf("the server loads its model again: %d requests were refused as too early", r.refused)
		v.Advice = "look why it restarted: the engine's log, the memory of its host and GPU"
	}
	return v
}
