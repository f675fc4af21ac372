package diagnose

import (
	"fmt"

	"sonde/probe/engine"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// foreign is what the engine has read over the history beside our prompts.
type foreign struct {
	tokens, prompts opt.Float // unknown without its counters
}

func (h *history) foreign() (f foreign) {
	list := h.readings(h.frames)
	ours, answered := 0, 0
	for _, frame := range h.frames {
		ours += frame.Client.SliceInTokens
		answered += len(frame.Client.SliceTTFT)
	}
	if read := increase(list, func(e *engine.Reading) opt.Float { return e.PromptTokens }); read.OK {
		f.tokens = opt.Of(max(0, read.V-float64(ours)-h.unfinished()))
	}
	if first := gained(list, engineTTFT); first.Count > 0 {
		f.prompts = opt.Of(max(0, first.Count-float64(answered)))
	}
	return f
}

// unfinished are the prompt tokens of our requests in flight, by which the two counts
// may differ: the engine counts while it reads or when an answer ends, we when a first
// token arrives, and its reading is older than the Frame.
func (h *history) unfinished() float64 {
	c := &h.now().Client
	return float64(c.InFlight) * max(float64(h.now().Load.Requested.InputTokens), c.InputTokens.Or(0))
}

// much reports whether it is worth a word.
func (f foreign) much() bool { return f.tokens.Or(0) >= foreignTokens }

// long reports whether they are long prompts: not many short ones.
func (f foreign) long() bool {
	return f.much() && f.prompts.OK && f.tokens.V >= foreignLong*max(1, f.prompts.V)
}

// together are pauses of the same kind.
type together struct {
	n, streams int
	gapMS      float64 // the worst
}

func (t *together) add(p pause) {
	t.n++
	t.gapMS, t.streams = max(t.gapMS, p.gapMS), max(t.streams, p.streams)
}

// seesPauses reports whether there are streams and gaps enough to find pauses.
func (h *history) seesPauses() bool {
	return len(h.now().Streams) >= 2 && h.now().Client.Gap.N >= pauseFewestGaps
}

// checkInterference finds prompts that hold up everybody's tokens while they are read.
func checkInterference(h *history) (outcome, Verdict) {
	if !h.seesPauses() {
		return unclear, Verdict{}
	}
	others, theirs := h.foreign(), false
	var read together
	for _, p := range h.pauses() {
		if p.long || !p.reading && !others.much() { // a long one is on purpose: the screen shows what it did
			continue
		}
		theirs = theirs || !p.reading
		read.add(p)
	}
	theirs = theirs && others.long()
	return when(read.n >= interferenceFewest || theirs && read.n >= standstillsFewest, func() Verdict {
		usual := h.now().Client.Gap.P50
		v := Verdict{
			Severity: Info, aside: read.gapMS < interferenceHarshMS,
			Text: fmt.Sprintf("prefill holds up decode: prompts being read cause gaps of up to %s, usually %s",
				units.Millis(read.gapMS), units.Millis(usual)),
			Evidence: []string{fmt.Sprintf("%d times in %.0f s, up to %d streams at once", read.n, h.seconds(), read.streams)},
			Advice:   "enable chunked prefill or use smaller chunks, or keep long prompts on a separate engine",
		}
		if theirs {
			v.Severity, v.aside = Warn, false
			v.Text = fmt.Sprintf("long prompts of other clients hold up decode: gaps of up to %s, usually %s", units.Millis(read.gapMS), units.Millis(usual))
			v.Evidence = append(v.Evidence, fmt.Sprintf("the engine read %s prompt tokens that are not ours, in %s",
				units.Whole(others.tokens.V), units.Count(max(1, others.prompts.V), "prompt")))
		}
		return v
	})
}

// checkStandstills finds that the whole engine stops again and again, with no prompt
// to read.
func checkStandstills(h *history) (outcome, Verdict) {
	if !h.seesPauses() {
		return unclear, Verdict{}
	}
	usual, read := h.now().Client.Gap.P50, 0
	var stops together
	for _, p := range h.pauses() {
		switch {
		case p.long || p.gapMS < max(standstillsShortestMS, standstillsGaps*usual):
		case p.reading:
			read++
		default:
			stops.add(p)
		}
	}
	others := h.foreign()
	if others.much() {
		return unclear, Verdict{} // it may have been reading those
	}
	return when(stops.n >= standstillsFewest && stops.n > read, func() Verdict {
		v := Verdict{
			Severity: Warn,
			Text: fmt.Sprintf("the engine stops again and again: %d times in %.0f s, for up to %s, all streams at once",
				stops.n, h.seconds(), units.Millis(stops.gapMS)),
			Evidence: []string{fmt.Sprintf("no prompt of ours was being read; usual gap %s, up to %d streams", units.Millis(usual), stops.streams)},
			Advice:   "check the engine's log and its host: garbage collection, swapping, another process, the network",
		}
		if !others.tokens.OK {
			v.Advice = "check the engine's log and its host; its metrics would show whether it reads long prompts of other clients then"
		}
		if answers := engineAnswers(h.now()); answers != "" {
			v.Evidence = append(v.Evidence, answers)
		}
		return v
	})
}
