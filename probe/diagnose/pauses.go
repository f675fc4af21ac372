package diagnose

import (
	"math"
	"slices"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// pause is a stretch in which most streams went without tokens at the same time.
type pause struct {
	from, to time.Duration
	gapMS    float64 // the worst slice's gap, median of the streams
	streams  int
	reading  bool // one of our own prompts waited for its first token as long
	long     bool // the one that was fired on purpose
}

// findPauses finds those of the present load in the history. A pause is far above the
// usual gap, and most streams share it: a slow one among them is another matter.
func (h *history) findPauses() []pause {
	usual := h.now().Client.Gap
	if usual.N < pauseFewestGaps || usual.P50 <= 0 {
		return nil
	}
	limit := max(pauseShortestMS, pauseGaps*usual.P50)
	var out []pause
	open := false
	for _, f := range h.frames {
		p, held := paused(f, limit)
		switch {
		case f.Stopped: // what goes on across our own stop is one pause
			continue
		case !held || f.At-f.Slice < max(h.since+burst, h.clean):
			open = false
			continue
		case !open:
			out = append(out, p)
		default:
			out[len(out)-1].join(p)
		}
		open = true
	}
	beyond := h.farToRead(out)
	for i := range out {
		out[i].reading = out[i].reading && out[i].gapMS < beyond
	}
	return out
}

// farToRead is from what length on a pause, in ms, is far longer than prompts of the
// requested length take: one that waits meanwhile is held up like the others. They
// are all as long. So if most of them came without a pause, a pause need not be as
// far from the usual to have another cause.
func (h *history) farToRead(all []pause) float64 {
	now := h.now()
	if now.Load.Requested.InputTokens == 0 || now.Client.TTFT.N < enough {
		return math.Inf(1)
	}
	if h.firstTokensIn(all) < pauseRare {
		return pauseTTFTsIfRare * now.Client.TTFT.P50
	}
	return pauseTTFTs * now.Client.TTFT.P50
}

// firstTokensIn is the share of answers that began in one of the pauses, or within
// the slice after it. Only those of the present load are counted.
func (h *history) firstTokensIn(all []pause) float64 {
	in, n := 0, 0
	for _, f := range h.frames {
		if f.At-f.Slice < h.since+burst {
			continue
		}
		first := len(f.Client.SliceTTFT)
		n += first
		if slices.ContainsFunc(all, func(p pause) bool { return f.At > p.from && f.At-f.Slice <= p.to }) {
			in += first
		}
	}
	return float64(in) / float64(max(1, n))
}

// join makes one pause of two that follow each other.
func (p *pause) join(next pause) {
	p.to = next.to
	p.reading, p.long = p.reading || next.reading, p.long || next.long
	p.gapMS, p.streams = max(p.gapMS, next.gapMS), max(p.streams, next.streams)
}

// paused reports whether most streams of a Frame had or have a gap above the limit.
func paused(f *frame.Frame, limit float64) (pause, bool) {
	p := pause{from: f.At - f.Slice, to: f.At}
	if clumped(f) {
		return p, false
	}
	decoding, shortest := 0, 0.0
	for i := range f.Streams {
		c := &f.Streams[i]
		p.long = p.long || c.Long
		if c.State != measure.StreamDecode || c.Long {
			continue
		}
		decoding++
		if c.MaxGapMS >= limit {
			if p.streams++; shortest == 0 || c.MaxGapMS < shortest {
				shortest = c.MaxGapMS
			}
		}
	}
	p.gapMS = shortest
	p.reading = readsOurs(f, shortest/2)
	return p, p.streams >= 2 && float64(p.streams) >= pauseStreams*float64(decoding)
}

// clumped reports whether tokens come together: the gaps between clumps are not the
// engine's.
func clumped(f *frame.Frame) bool {
	const none = 0.1 // ms
	together, all := 0, 0
	for gap, n := range f.Client.EachSliceGap() {
		if all += n; gap < none {
			together += n
		}
	}
	return all > 0 && 2*together >= all
}

// readsOurs reports whether a prompt of our own waits, or has just waited, for its first
// token that long.
func readsOurs(f *frame.Frame, ms float64) bool {
	for i := range f.Streams {
		if c := &f.Streams[i]; c.State == measure.StreamWaiting && c.WaitMS >= ms {
			return true
		}
	}
	for _, ttft := range f.Client.SliceTTFT {
		if ttft >= ms {
			return true
		}
	}
	return false
}
