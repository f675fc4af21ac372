package diagnose

import (
	"fmt"
	"time"

	"sonde/probe/frame"
)

// clientBottleneck finds that the figures are about us and not the server.
type clientBottleneck struct {
	health frame.Health
	share  float64 // of the recent Frames
}

func (r *clientBottleneck) check(h *history) outcome {
	const fewest, settling = 4, 10 * time.Second
	frames, _ := h.last(recent)
	// After our process was stopped it catches up for a while: that is no limit.
	if len(frames) < fewest || h.awake() < settling {
		return unclear
	}
	n := 0
	for _, f := range frames {
		if f.Health.Bottleneck {
			n++
			r.health = f.Health
		}
	}
	r.share = float64(n) / float64(len(frames))
	return found(r.share >= 0.5)
}

func (r *clientBottleneck) verdict() Verdict {
	says := "this client is the bottleneck, not the server"
	if r.health.Why != "" {
		says += ": " + r.health.Why
	}
	evidence := []string{
		fmt.Sprintf("seen in %s of the last %.0f s", percent(r.share), recent.Seconds()),
		fmt.Sprintf("our reads run %s (p99) behind the arrivals", millis(r.health.LateMsP99)),
	}
	if r.health.CPU.OK {
		evidence = append(evidence, fmt.Sprintf("this process uses %s of a core", percent(r.health.CPU.V)))
	}
	return Verdict{
		Severity: Bad, Text: says, Evidence: evidence,
		Advice: "lower the load, or run from a machine with free cores",
	}
}

// clumps finds a proxy or a compressor between us and the engine that holds
// tokens back and lets them go together.
type clumps struct {
	shared, chunks int
}

func (r *clumps) check(h *history) outcome {
	const fewest = 100
	if f := h.now(); f.Health.Bottleneck {
		return unclear // reads that come late find chunks together, too
	}
	// As few of the newest as will do: a proxy may have come in between.
	ended := h.ended()
	for i := len(ended) - 1; i >= 0 && (r.chunks < fewest || h.now().At-ended[i].at < recent); i-- {
		if isSuccess(ended[i].Request) {
			r.shared += ended[i].Coalesced
			r.chunks += ended[i].Chunks
		}
	}
	if r.chunks < fewest {
		return unclear
	}
	return found(2*r.shared >= r.chunks)
}

func (r *clumps) verdict() Verdict {
	share := float64(r.shared) / float64(r.chunks)
	return Verdict{
		Severity: Warn,
		Text:     fmt.Sprintf("tokens arrive in clumps: %s of chunks came together with the one before", percent(share)),
		Evidence: []string{fmt.Sprintf("%d of %d chunks share an arrival stamp: gaps and TTFT are not the engine's", r.shared, r.chunks)},
		Advice:   "look for a buffering proxy or compression on the way; address the engine itself to compare",
	}
}

// manyTokensPerChunk reminds that a gap is not the time of one token.
type manyTokensPerChunk struct{ perChunk float64 }

func (r *manyTokensPerChunk) check(h *history) outcome {
	c := &h.now().Client
	if !c.TokensPerChunk.OK || c.TokensEstimated {
		return unclear
	}
	r.perChunk = c.TokensPerChunk.V
	return found(r.perChunk > 1.2)
}

func (r *manyTokensPerChunk) verdict() Verdict {
	return Verdict{
		Severity: Info, aside: true,
		Text:     fmt.Sprintf("a chunk holds %.1f tokens, so a gap is not the time of one token", r.perChunk),
		Evidence: []string{"output tokens by usage, over the number of chunks"},
		Advice:   "read TPOT instead; speculative decoding and stream intervals do this",
	}
}
