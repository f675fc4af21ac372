package diagnose

import (
	"fmt"

	"sonde/probe/engine"
	"sonde/probe/opt"
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
	if first := gained(list, func(e *engine.Reading) engine.Histogram { return e.TTFT }); first.Count > 0 {
		f.prompts = opt.Of(max(0, first.Count-float64(answered)))
	}
	return f
}

// unfinished are the prompt tokens of our requests in flight, by which the two counts
// may differ: the engine counts while it reads or when an answer ends, we when a first
// token arrives, and its reading is older than the Frame.
func (h *history) unfinished() float64 {
	c := &h.now().Client
	return float64(c.InFlight) * max(float64(h.now().Load.Asked.InputTokens), c.InputTokens.Or(0))
}

// much tells that it is worth a word.
func (f foreign) much() bool { return f.tokens.Or(0) >= 4096 }

// long tells that they are long prompts: not many short ones.
func (f foreign) long() bool {
	return f.much() && f.prompts.OK && f.tokens.V >= 2048*max(1, f.prompts.V)
}

// interference finds prompts that hold up everybody's tokens while they are read.
type interference struct {
	n, streams int
	gap, usual float64 // the worst, and p50; ms
	others     foreign
	seconds    float64
	theirs     bool // it is by long prompts that are not ours
}

func (r *interference) check(h *history) outcome {
	const fewest = 3
	if len(h.now().Streams) < 2 || h.now().Client.Gap.N < 100 {
		return unclear
	}
	ours, theirs := 0, 0
	r.others = h.foreign()
	for _, p := range h.pauses() {
		switch {
		case p.long:
			continue // on purpose: the screen tells what it did
		case p.reading:
			ours++
		case r.others.much():
			theirs++
		default:
			continue
		}
		r.gap, r.streams = max(r.gap, p.gapMS), max(r.streams, p.streams)
	}
	r.n, r.theirs = ours+theirs, theirs > 0 && r.others.long()
	r.usual, r.seconds = h.now().Client.Gap.P50, h.seconds()
	return found(r.n >= fewest || r.theirs && r.n >= 2)
}

func (r *interference) verdict() Verdict {
	const harsh = 500 // ms: a break that every reader notices
	v := Verdict{
		Severity: Info, aside: !r.theirs && r.gap < harsh,
		Text: fmt.Sprintf("prefill holds up decode: prompts being read make gaps of up to %s, the usual is %s",
			millis(r.gap), millis(r.usual)),
		Evidence: []string{fmt.Sprintf("%d times in %.0f s, up to %d streams at once", r.n, r.seconds, r.streams)},
		Advice:   "switch chunked prefill on or take smaller chunks, or keep long prompts on an engine of their own",
	}
	if r.theirs {
		v.Severity = Warn
		v.Text = fmt.Sprintf("long prompts of others hold up decode: gaps of up to %s, the usual is %s", millis(r.gap), millis(r.usual))
		v.Evidence = append(v.Evidence, fmt.Sprintf("the engine read %s prompt tokens that are not ours, in %s prompts",
			count(r.others.tokens.V), count(max(1, r.others.prompts.V))))
	}
	return v
}

// standstills finds that the whole engine stops again and again, with no prompt
// to read.
type standstills struct {
	n, streams     int
	gap            float64 // the worst, ms
	usual, seconds float64
	says           string
	blind          bool // whether it read prompts of others is not known
}

func (r *standstills) check(h *history) outcome {
	const fewest, shortest, far = 2, 300, 10 // pauses; ms; median gaps
	if len(h.now().Streams) < 2 || h.now().Client.Gap.N < 100 {
		return unclear
	}
	r.usual, r.seconds = h.now().Client.Gap.P50, h.seconds()
	read := 0
	for _, p := range h.pauses() {
		switch {
		case p.long || p.gapMS < max(shortest, far*r.usual):
		case p.reading:
			read++
		default:
			r.n++
			r.gap, r.streams = max(r.gap, p.gapMS), max(r.streams, p.streams)
		}
	}
	others := h.foreign()
	if others.much() {
		return unclear // it may have been reading those
	}
	r.blind = !others.tokens.OK
	r.says = engineSays(h.now())
	return found(r.n >= fewest && r.n > read)
}

func (r *standstills) verdict() Verdict {
	v := Verdict{
		Severity: Warn,
		Text: fmt.Sprintf("the engine stops again and again: %d times in %.0f s, for up to %s, all streams at once",
			r.n, r.seconds, millis(r.gap)),
		Evidence: []string{fmt.Sprintf("no prompt of ours was being read, usual gap %s, up to %d streams", millis(r.usual), r.streams)},
		Advice:   "look at the engine's log and its host: garbage collection, swapping, another process, the network",
	}
	if r.blind {
		v.Advice = "look at the engine's log and its host; its metrics would tell whether it reads long prompts of others then"
	}
	if r.says != "" {
		v.Evidence = append(v.Evidence, r.says)
	}
	return v
}
