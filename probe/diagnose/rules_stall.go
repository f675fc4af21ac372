package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/measure"
)

// stalled finds streams in the middle of an answer that get no token any more.
type stalled struct {
	silent, decoding, waiting int
	shortest, longest         time.Duration
	longPrompt                bool // one that was fired on purpose is being read
	says                      string
	gap                       measure.Summary
	outOfKV                   bool // which explains it
}

func (r *stalled) check(h *history) outcome {
	f, limit, awake := h.now(), h.usual.gapLimit(h.atLeast()), h.awake()
	for i := range f.Streams {
		c := &f.Streams[i]
		switch {
		case c.State == measure.StreamWaiting:
			r.waiting++
			r.longPrompt = r.longPrompt || c.Long
		case c.State == measure.StreamDecode && !c.Ended:
			r.decoding++
			// A gap that closed in the slice is over.
			if silence := min(milliseconds(c.MaxGapMS), awake); c.Tokens == 0 && silence >= limit {
				r.add(silence)
			}
		}
	}
	r.says, r.gap, r.outOfKV = engineSays(f), h.usual.gap, h.outOfKV()
	return found(r.silent > 0)
}

func (r *stalled) add(silence time.Duration) {
	if r.silent++; r.silent == 1 {
		r.shortest = silence
	}
	r.shortest, r.longest = min(r.shortest, silence), max(r.longest, silence)
}

func (r *stalled) verdict() Verdict {
	v := Verdict{
		Severity: Warn,
		Text:     fmt.Sprintf("no token from %d of %d streams for %s", r.silent, r.decoding, wholeSeconds(r.shortest)),
		Advice:   "look into the engine's log, and at the GPU and the network on the way",
	}
	if 2*r.silent >= r.decoding && !r.longPrompt && !r.outOfKV {
		v.Severity = Bad
	}
	if r.outOfKV {
		v.Evidence = append(v.Evidence, "the engine has no room left in its KV cache")
	}
	if r.longPrompt {
		v.Evidence = append(v.Evidence, "the engine reads the long prompt that was sent on purpose")
	}
	if r.says != "" {
		v.Evidence = append(v.Evidence, r.says)
	}
	if r.longest >= r.shortest+time.Second {
		v.Evidence = append(v.Evidence, "the longest for "+wholeSeconds(r.longest))
	}
	if r.gap.N > 0 {
		v.Evidence = append(v.Evidence, fmt.Sprintf("gap p50 %s, p99 %s before, n %d", millis(r.gap.P50), millis(r.gap.P99), r.gap.N))
	} else {
		v.Evidence = append(v.Evidence, "no gap is known yet to compare with")
	}
	if r.waiting > 0 {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%d more wait for their first token", r.waiting))
	}
	return v
}
