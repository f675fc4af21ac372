package headless

import (
	"time"

	"sonde/probe/measure"
)

// flow counts what passed within the window: tokens by their arrival, requests
// by the share of their duration inside, streams by the time they were open.
// Requests of the warm-up take part with what they did inside the window,
// otherwise a window would seem slow for as long as its first requests last.
type flow struct {
	out, in   float64       // tokens of successful requests that arrived
	uncounted int           // of these requests, those whose prompt nobody counted
	done      float64       // requests that succeeded, by their share in the window
	open      time.Duration // summed time of streams in flight
}

// add takes a request that ended. The tokens of a request that failed or was
// cancelled are no throughput.
func (f *flow) add(r *measure.Request, t *timeline) {
	if r.Start >= r.Intent { // else nothing was ever sent
		from, to := t.clip(r.Start, r.End)
		f.open += to - from - t.stopped(from, to)
	}
	if r.Class != measure.OK {
		return
	}
	share := t.share(r)
	f.done += share
	if share > 0 && !promptCounted(r) {
		f.uncounted++
	}
	if !r.Streamed || r.Chunks == 0 {
		if t.contains(r.End) {
			f.in += float64(r.InTokens)
			f.out += float64(r.OutTokens)
		}
		return
	}
	if t.contains(r.First) {
		f.in += float64(r.InTokens)
	}
	f.out += tokensWithin(r, t)
}

// tokensWithin is how many output tokens of a stream arrived in the window.
// Usage tells only their sum, so each chunk after the first is taken to hold
// its equal share.
func tokensWithin(r *measure.Request, t *timeline) float64 {
	if t.contains(r.First) && t.contains(r.Last) {
		return float64(r.OutTokens)
	}
	first := float64(min(r.FirstTokens, r.OutTokens))
	perChunk, inside := 0.0, 0.0
	if r.Chunks > 1 {
		perChunk = (float64(r.OutTokens) - first) / float64(r.Chunks-1)
	} else {
		first = float64(r.OutTokens)
	}
	if t.contains(r.First) {
		inside = first
	}
	return inside + perChunk*float64(laterChunksWithin(r, t))
}

// laterChunksWithin counts the chunks after the first that arrived in the
// window. Where the gaps are not kept the chunks are taken as evenly spread.
func laterChunksWithin(r *measure.Request, t *timeline) int {
	n := 0
	even := float64(r.Last-r.First) / float64(max(1, r.Chunks-1))
	known := len(r.GapsMS) == r.Chunks-1
	at := float64(r.First)
	for i := range r.Chunks - 1 {
		if known {
			at += float64(r.GapsMS[i]) * float64(time.Millisecond)
		} else {
			at += even
		}
		if t.contains(time.Duration(at)) {
			n++
		}
	}
	return n
}
