package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// hang finds requests that wait for a first token far longer than usual.
type hang struct {
	late, open int
	oldest     time.Duration
	total      bool // nobody gets a token
	unsent     bool
	says, why  string // the engine's word, or why there is none
	first      measure.Summary
	outOfKV    bool // which explains it
}

func (r *hang) check(h *history) outcome {
	f, limit := h.now(), h.usual.firstLimit(h.atLeast())
	r.total = h.quiet() >= limit
	if !r.total {
		if h.justChanged() {
			return unclear
		}
		// Where others go on, a wait that happened before is part of the usual.
		const beyondMax = 1.5
		limit = max(limit, unheardOf, milliseconds(beyondMax*h.usual.first.Max))
	}
	awake := h.awake()
	waits := waits(f)
	for _, wait := range waits {
		wait = min(wait, awake)
		r.oldest = max(r.oldest, wait)
		if wait >= limit {
			r.late++
		}
	}
	r.open = max(f.Client.InFlight, len(waits))
	r.unsent = f.Client.OldestWaiting == 0
	r.says, r.first, r.outOfKV = engineSays(f), h.usual.first, h.outOfKV()
	if !f.Engine.Have {
		r.why = f.Engine.Why
	}
	return found(r.late > 0)
}

// waits gives how long each request has been without a token. Without the
// streams' cells the age of the oldest stands for all: only it is known.
func waits(f *frame.Frame) []time.Duration {
	var out []time.Duration
	for i := range f.Streams {
		if c := &f.Streams[i]; c.State == measure.StreamWaiting && !c.Long {
			out = append(out, milliseconds(c.WaitMS))
		}
	}
	if len(f.Streams) == 0 {
		for range f.Client.Prefill {
			out = append(out, f.Client.OldestWaiting)
		}
	}
	return out
}

func (r *hang) verdict() Verdict {
	const bad = 15 * time.Second
	v := Verdict{
		Severity: Warn,
		Text:     fmt.Sprintf("no first token for %s: %d of %d requests wait", wholeSeconds(r.oldest), r.late, r.open),
		Advice:   "look into the engine's log, and whether it still takes requests from others",
	}
	if !r.total {
		v.Text = fmt.Sprintf("%d of %d requests have had no first token for up to %s", r.late, r.open, wholeSeconds(r.oldest))
	}
	if r.oldest >= bad && (r.total || 2*r.late >= r.open) && !r.outOfKV {
		v.Severity = Bad
	}
	if r.outOfKV {
		v.Evidence = append(v.Evidence, "the engine has no room left in its KV cache")
	}
	if r.unsent {
		v.Evidence = append(v.Evidence, "none is sent yet: connecting takes that long")
	}
	if r.says != "" {
		v.Evidence = append(v.Evidence, r.says)
	}
	if r.first.N > 0 {
		v.Evidence = append(v.Evidence, fmt.Sprintf("usual TTFT p95 %s, n %d", millis(r.first.P95), r.first.N))
	} else {
		v.Evidence = append(v.Evidence, "no TTFT is known yet to compare with")
	}
	if r.why != "" {
		v.Evidence = append(v.Evidence, "of the engine: "+r.why)
	}
	return v
}

// engineSays tells whether the engine still answers, and what; "" if its word
// was never heard.
func engineSays(f *frame.Frame) string {
	const answersNow = 3 * time.Second
	if !f.Engine.Have {
		return ""
	}
	e := &f.Engine.Reading
	state := ""
	for _, s := range []struct {
		word string
		n    opt.Float
	}{{"running", e.Running}, {"waiting", e.Waiting}} {
		if s.n.OK {
			state += ", " + count(s.n.V) + " " + s.word
		}
	}
	old, known := age(f, e.At)
	switch {
	case !known && state == "":
		return ""
	case !known:
		return "by the engine" + state
	case old > answersNow:
		return fmt.Sprintf("the engine last answered %s ago", wholeSeconds(old))
	}
	return fmt.Sprintf("the engine answers (%.1f s ago)%s", old.Seconds(), state)
}
