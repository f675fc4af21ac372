package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// checkClientBottleneck finds that the figures are about us and not the server.
func checkClientBottleneck(h *history) finding {
	const fewest = 4
	frames, whole := h.last(recent) // a busy start alone proves nothing
	// A process that was stopped catches up for a while, which does not make it the bottleneck.
	known := whole && len(frames) >= fewest && h.awake() >= clientSettling
	n := 0
	var health frame.Health
	for _, f := range frames {
		if f.Health.Bottleneck {
			n++
			health = f.Health
		}
	}
	share := float64(n) / float64(len(frames))
	return decide(known, share >= clientShare, bad("this client is the bottleneck, not the server%s", colon(health.Why)).
		with("seen in %s of the last %s", units.Share(share), units.Span(recent)).
		with("reads lag arrivals by %s (p99)", units.Millis(health.LateMsP99)).
		withIf(health.CPU.OK, "this process uses %s of a core", units.Share(health.CPU.V)).
		advise("lower the load, or run sonde on a machine with free cores"))
}

// checkClumps finds a proxy or a compressor between us and the engine that holds tokens
// back and releases them together.
func checkClumps(h *history) finding {
	shared, chunks := 0, 0
	// Only as many of the newest as it takes: a proxy may have been added since.
	for i := len(h.ended) - 1; i >= 0 && (chunks < clumpsFewest || h.now().At-h.ended[i].at < recent); i-- {
		if r := h.ended[i].Request; succeeded(r) {
			shared += r.Coalesced
			chunks += r.Chunks
		}
	}
	known := chunks >= clumpsFewest && !h.now().Health.Bottleneck // late reads also find chunks together
	share := float64(shared) / float64(chunks)
	return decide(known, share >= clumpedShare, warn("tokens arrive in clumps: %s of chunks arrived together with the previous one", units.Share(share)).
		with("%d of %d chunks share an arrival time: gaps and TTFT are not the engine's", shared, chunks).
		advise("look for a buffering proxy or compression on the path; connect to the engine directly to compare"))
}

// tokensPerChunk is unknown where chunks were counted because the server counts no tokens.
func (h *history) tokensPerChunk() opt.Float {
	if h.now().Client.TokensEstimated {
		return opt.Float{}
	}
	return h.now().Client.TokensPerChunk
}

// checkTokensPerChunk reminds that a gap is not the time of one token.
func checkTokensPerChunk(h *history) finding {
	n := h.tokensPerChunk()
	return decide(n.OK, n.V > tokensPerChunkFrom, info("a chunk holds %.1f tokens on average, so a gap is not the time per token", n.V).besideIf(true).
		with("output tokens from usage, divided by the number of chunks").
		advise("use TPOT instead; speculative decoding or a stream interval causes this"))
}

// checkTokenCounts finds usage that counts fewer tokens than there were chunks with text.
func checkTokenCounts(h *history) finding {
	n, c := h.tokensPerChunk(), &h.now().Client
	return decide(n.OK, n.V < tokensPerChunkTo, warn("the server counts %.2g tokens per chunk of text, so TPOT and tokens/s contradict the gaps", n.V).
		with("output tokens from usage, divided by the number of chunks").
		withIf(c.Gap.N > 0 && c.TPOT.N > 0, "TPOT %s, gap %s (p50)", units.Millis(c.TPOT.P50), units.Millis(c.Gap.P50)).
		advise("rely on the gaps: usage may omit reasoning tokens, or a proxy may split tokens into smaller chunks"))
}

// lengths are mean lengths, in tokens, of requests for which one was requested.
type lengths struct {
	got, requested float64
	n, stopped     int // requests, and those that the model ended
}

func (h *history) lengths(of func(*measure.Request) (got, requested int)) (l lengths) {
	for _, q := range h.successes() {
		got, requested := of(q)
		if got == 0 || requested == 0 {
			continue
		}
		l.n++
		l.got += (float64(got) - l.got) / float64(l.n)
		l.requested += (float64(requested) - l.requested) / float64(l.n)
		if q.Finish == "stop" {
			l.stopped++
		}
	}
	return l
}

func (h *history) outputs() lengths {
	return h.lengths(func(q *measure.Request) (got, requested int) { return q.OutTokens, q.RequestedOut })
}

func (l *lengths) known() bool { return l.n >= lengthsFewest }

func (l *lengths) String() string {
	return fmt.Sprintf("%s of %s tokens", units.Whole(l.got), units.Whole(l.requested))
}

// checkShortOutput finds responses that end before the requested length.
func checkShortOutput(h *history) finding {
	o := h.outputs()
	return decide(o.known(), o.got < shortOutputShare*o.requested, info("responses are shorter than requested: %s", &o).
		with("mean of %d requests, %d of them ended by the model", o.n, o.stopped).
		advise("results apply to the measured length; ignore_eos forces the full length on servers that support it"))
}

// checkLongOutput finds responses that go on beyond the requested length.
func checkLongOutput(h *history) finding {
	o := h.outputs()
	longer := o.got > longOutputShare*o.requested && o.got-o.requested >= longOutputTokens
	return decide(o.known(), longer, info("responses are longer than requested: %s", &o).
		with("mean of %d requests, as counted by the server", o.n).
		advise("results apply to the measured length; the server ignores the limit, or excludes reasoning from it"))
}

// checkPromptLength finds prompts that are not as long as requested. Those of later turns are
// longer by their history.
func checkPromptLength(h *history) finding {
	p := h.lengths(func(q *measure.Request) (got, requested int) {
		if q.Turn > 1 {
			return 0, 0
		}
		return q.InTokens, q.RequestedIn
	})
	off := max(p.got, p.requested) - min(p.got, p.requested)
	return decide(p.known(), off > promptLengthShare*p.requested && off > promptLengthTokens,
		info("prompts are %s tokens long instead of the requested %s", units.Whole(p.got), units.Whole(p.requested)).
			with("mean of %d requests, as counted by the server, chat template included", p.n).
			advise("results apply to the measured length"))
}

// checkSharedServer finds that the engine also works for other clients.
func checkSharedServer(h *history) finding {
	const fewest = 3 // readings
	frames, ok := h.steady(sharedSpan)
	if !ok || h.now().Load.Requested.IsIdle() || !everyFrame(frames, held).OK {
		return unclear
	}
	n, with, newest := 0, 0, false
	var all, ours, most float64 // sums of requests in flight; of theirs, at once
	for i, f := range frames {
		if i == 0 || f.Engine.Reading.At.Equal(frames[i-1].Engine.Reading.At) {
			continue // not a new reading
		}
		now, own := held(f).V, inFlightBefore(frames[:i+1])
		newest = now > own
		if n++; newest {
			with++
		}
		all, ours, most = all+now, ours+min(own, now), max(most, now-own)
	}
	all, ours = all/float64(n), ours/float64(n)
	return decide(n >= fewest, newest && with >= fewest && all-ours >= max(sharedFewest, sharedShare*ours),
		info("other clients use this engine, up to %s requests at once: %s of %s in flight are not ours", units.Whole(most), units.Whole(all-ours), units.Whole(all)).
			besideIf(most < ours).
			with("means over %.0f s: the engine has %.1f requests, %.1f of them ours", sharedSpan.Seconds(), all, ours).
			advise("results include the other load: measure without it, or take it into account"))
}

// inFlightBefore is the most requests that we had in flight since shortly before a
// reading, which may be a second old when a Frame first shows it.
func inFlightBefore(frames []*frame.Frame) float64 {
	const old = 1500 * time.Millisecond
	most, now := 0, frames[len(frames)-1].At
	for i := len(frames) - 1; i >= 0 && now-frames[i].At <= old; i-- {
		most = max(most, frames[i].Client.InFlight)
	}
	return float64(most)
}
