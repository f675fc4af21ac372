package diagnose

import (
	"fmt"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/units"
)

// checkClientBottleneck finds that the figures are about us and not the server.
func checkClientBottleneck(h *history) (outcome, Verdict) {
	const fewest = 4
	frames, _ := h.last(recent)
	// After our process was stopped it catches up for a while: that is no limit.
	if len(frames) < fewest || h.awake() < clientSettling {
		return unclear, Verdict{}
	}
	n := 0
	var health frame.Health
	for _, f := range frames {
		if f.Health.Bottleneck {
			n++
			health = f.Health
		}
	}
	share := float64(n) / float64(len(frames))
	return when(share >= clientShare, func() Verdict {
		v := Verdict{
			Severity: Bad, Text: "this client is the bottleneck, not the server",
			Evidence: []string{
				fmt.Sprintf("seen in %s of the last %.0f s", units.Share(share), recent.Seconds()),
				fmt.Sprintf("reads lag arrivals by %s (p99)", units.Millis(health.LateMsP99)),
			},
			Advice: "lower the load, or run from a machine with free cores",
		}
		if health.Why != "" {
			v.Text += ": " + health.Why
		}
		if health.CPU.OK {
			v.Evidence = append(v.Evidence, fmt.Sprintf("this process uses %s of a core", units.Share(health.CPU.V)))
		}
		return v
	})
}

// checkClumps finds a proxy or a compressor between us and the engine that holds
// tokens back and lets them go together.
func checkClumps(h *history) (outcome, Verdict) {
	if h.now().Health.Bottleneck {
		return unclear, Verdict{} // reads that come late find chunks together, too
	}
	shared, chunks := 0, 0
	// As few of the newest as will do: a proxy may have come in between.
	ended := h.ended()
	for i := len(ended) - 1; i >= 0 && (chunks < clumpsFewest || h.now().At-ended[i].at < recent); i-- {
		if succeeded(ended[i].Request) {
			shared += ended[i].Coalesced
			chunks += ended[i].Chunks
		}
	}
	if chunks < clumpsFewest {
		return unclear, Verdict{}
	}
	share := float64(shared) / float64(chunks)
	return when(share >= clumpedShare, func() Verdict {
		return Verdict{
			Severity: Warn,
			Text:     fmt.Sprintf("tokens arrive in clumps: %s of chunks arrived together with the one before", units.Share(share)),
			Evidence: []string{fmt.Sprintf("%d of %d chunks share an arrival time: gaps and TTFT are not the engine's", shared, chunks)},
			Advice:   "look for a buffering proxy or compression on the way; connect to the engine directly to compare",
		}
	})
}

// checkTokensPerChunk reminds that a gap is not the time of one token.
func checkTokensPerChunk(h *history) (outcome, Verdict) {
	c := &h.now().Client
	if !c.TokensPerChunk.OK || c.TokensEstimated {
		return unclear, Verdict{}
	}
	return when(c.TokensPerChunk.V > tokensPerChunkFrom, func() Verdict {
		return Verdict{
			Severity: Info, aside: true,
			Text:     fmt.Sprintf("a chunk holds %.1f tokens, so a gap is not the time of one token", c.TokensPerChunk.V),
			Evidence: []string{"output tokens from usage, divided by the number of chunks"},
			Advice:   "use TPOT instead; speculative decoding and stream intervals cause this",
		}
	})
}

// checkTokenCounts finds usage that counts fewer tokens than there were chunks with text.
func checkTokenCounts(h *history) (outcome, Verdict) {
	c := &h.now().Client
	if !c.TokensPerChunk.OK || c.TokensEstimated {
		return unclear, Verdict{}
	}
	return when(c.TokensPerChunk.V < tokensPerChunkTo, func() Verdict {
		v := Verdict{
			Severity: Warn,
			Text:     fmt.Sprintf("the server counts %.2g tokens for each chunk of text: TPOT and tokens per second contradict the gaps", c.TokensPerChunk.V),
			Evidence: []string{"output tokens from usage, divided by the number of chunks"},
			Advice:   "use the gaps: usage may leave reasoning tokens out, or a proxy cuts tokens into smaller chunks",
		}
		if c.Gap.N > 0 && c.TPOT.N > 0 {
			v.Evidence = append(v.Evidence, fmt.Sprintf("TPOT %s, gap %s (p50)", units.Millis(c.TPOT.P50), units.Millis(c.Gap.P50)))
		}
		return v
	})
}

// outputs are the lengths of answers that had a requested one, summed.
type outputs struct{ got, requested, n, stopped int }

// mean is the mean length of answers beside the requested one.
func (o outputs) mean() string {
	return fmt.Sprintf("%s of %s tokens", units.Whole(float64(o.got)/float64(o.n)), units.Whole(float64(o.requested)/float64(o.n)))
}

func (h *history) outputs() (o outputs) {
	h.successes(func(q *measure.Request) {
		if q.RequestedOut == 0 || q.OutTokens == 0 {
			return
		}
		o.n++
		o.got += q.OutTokens
		o.requested += q.RequestedOut
		if q.Finish == "stop" {
			o.stopped++
		}
	})
	return o
}

// checkShortOutput finds answers that end before the requested length.
func checkShortOutput(h *history) (outcome, Verdict) {
	o := h.outputs()
	if o.n < lengthsFewest {
		return unclear, Verdict{}
	}
	return when(float64(o.got) < shortOutputShare*float64(o.requested), func() Verdict {
		return Verdict{
			Severity: Info,
			Text:     "answers are shorter than requested: " + o.mean(),
			Evidence: []string{fmt.Sprintf("mean of %d requests, %d of them ended by the model itself", o.n, o.stopped)},
			Advice:   "figures hold for the measured length; a server that supports ignore_eos can be made to go on",
		}
	})
}

// checkLongOutput finds answers that go on beyond the requested length.
func checkLongOutput(h *history) (outcome, Verdict) {
	o := h.outputs()
	if o.n < lengthsFewest {
		return unclear, Verdict{}
	}
	longer := float64(o.got) > longOutputShare*float64(o.requested) && o.got-o.requested >= longOutputTokens*o.n
	return when(longer, func() Verdict {
		return Verdict{
			Severity: Info,
			Text:     "answers are longer than requested: " + o.mean(),
			Evidence: []string{fmt.Sprintf("mean of %d requests as the server counts", o.n)},
			Advice:   "figures hold for the measured length; the server ignores the limit, or counts reasoning beside it",
		}
	})
}

// checkPromptLength finds prompts that are not as long as requested.
func checkPromptLength(h *history) (outcome, Verdict) {
	sum, requestedSum, n := 0, 0, 0
	for _, e := range h.ended() {
		if q := e.Request; succeeded(q) && q.RequestedIn > 0 && q.InTokens > 0 {
			n++
			sum += q.InTokens
			requestedSum += q.RequestedIn
		}
	}
	if n < lengthsFewest {
		return unclear, Verdict{}
	}
	got, requested := float64(sum)/float64(n), float64(requestedSum)/float64(n)
	off := max(got, requested) - min(got, requested)
	return when(off > promptLengthShare*requested && off > promptLengthTokens, func() Verdict {
		return Verdict{
			Severity: Info,
			Text:     fmt.Sprintf("prompts are %s tokens long instead of the requested %s", units.Whole(got), units.Whole(requested)),
			Evidence: []string{fmt.Sprintf("mean of %d requests as the server counts, including its chat template", n)},
			Advice:   "figures hold for the measured length",
		}
	})
}
