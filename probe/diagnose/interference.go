package diagnose

import (
	"sonde/probe/engine"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// foreign is what the engine has read over the history for other clients.
type foreign struct {
	tokens, prompts opt.Float // unknown without its counters
}

func (h *history) foreign() (f foreign) {
	frames := h.sinceTrouble()
	list, ours, answered := h.readings(frames), 0, 0
	for _, frame := range frames {
		ours += frame.Client.SliceInTokens
		answered += len(frame.Client.SliceTTFT)
	}
	// The two counts may differ by the prompts of our requests in flight: the engine counts
	// while it reads or when a response ends, we when a first token arrives; and its reading
	// is older than the Frame.
	c := &h.now().Client
	unfinished := float64(c.InFlight) * max(float64(h.now().Load.Requested.InputTokens), c.InputTokens.Or(0))
	if read := increase(list, engine.FieldPromptTokens); read.OK {
		f.tokens = opt.Of(max(0, read.V-float64(ours)-unfinished))
	}
	if first := gained(list, engine.FieldTTFT); first.Count > 0 {
		f.prompts = opt.Of(max(0, first.Count-float64(answered)))
	}
	return f
}

// much reports whether it is worth mentioning.
func (f foreign) much() bool { return f.tokens.Or(0) >= foreignTokens }

// long reports whether these are long prompts rather than many short ones.
func (f foreign) long() bool {
	return f.much() && f.prompts.OK && f.tokens.V >= foreignLong*max(1, f.prompts.V)
}

// seesPauses reports whether there are enough streams and gaps to find pauses.
func (h *history) seesPauses() bool {
	return len(h.now().Streams) >= 2 && h.now().Client.Gap.N >= pauseFewestGaps
}

// checkInterference finds prompts that hold up everybody's tokens while they are read.
func checkInterference(h *history) finding {
	usual, others, theirs, n := h.now().Client.Gap.P50, h.foreign(), false, 0
	var worst pause
	var again recurrence
	for _, p := range h.pauses {
		if p.long || !p.reading && !others.much() { // sent on purpose: the screen shows its effect
			continue
		}
		theirs = theirs || !p.reading
		again.add(p.to)
		n++
		worst.join(p)
	}
	theirs = theirs && others.long()
	v := info("prefill holds up decode: gaps of up to %s while prompts are read, usually %s", units.Millis(worst.gapMS), units.Millis(usual)).
		besideIf(worst.gapMS < interferenceHarshMS)
	if theirs {
		v = warn("long prompts from other clients hold up decode: gaps of up to %s, usually %s", units.Millis(worst.gapMS), units.Millis(usual))
	}
	goesOn := v.aside || again.goesOn(h.now().At)
	return decide(h.seesPauses(), (n >= interferenceFewest || theirs && n >= standstillsFewest) && goesOn,
		v.with("%d times in %.0f s, up to %d streams at once", n, h.seconds(), worst.streams).
			withIf(theirs, "the engine read %s prompt tokens of other clients, in %s",
				units.Whole(others.tokens.V), units.Count(max(1, others.prompts.V), "prompt")).
			advise("enable chunked prefill or use smaller chunks, or send long prompts to a separate engine"))
}

// checkStandstills finds that the whole engine stops repeatedly, with no prompt to read.
func checkStandstills(h *history) finding {
	usual, others, read, n := h.now().Client.Gap.P50, h.foreign(), 0, 0
	var worst pause
	var again recurrence
	for _, p := range h.pauses {
		switch {
		case p.long || p.gapMS < max(standstillsShortestMS, standstillsGaps*usual):
		case p.reading:
			read++
		default:
			n++
			again.add(p.to)
			worst.join(p)
		}
	}
	advice := "check the engine's log and its host: garbage collection, swapping, another process, the network"
	if !others.tokens.OK {
		advice = "check the engine's log and its host; its metrics would show whether it reads other clients' long prompts"
	}
	// If other clients sent much, it may have been reading that.
	return decide(h.seesPauses() && !others.much(), n >= standstillsFewest && n > read && again.goesOn(h.now().At),
		warn("the engine keeps stopping: %d times in %.0f s, for up to %s, all streams at once", n, h.seconds(), units.Millis(worst.gapMS)).
			with("no prompt of ours was being read; usual gap %s, up to %d streams", units.Millis(usual), worst.streams).
			with("%s", engineAnswers(h.now())).
			advise(advice))
}
