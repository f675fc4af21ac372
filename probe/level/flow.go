package level

import (
	"math"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// flow counts what passes within the span: tokens by their arrival, requests by the share of
// their duration inside, streams by the time they are open. A request that began before the
// span takes part with what it does inside, otherwise a span would seem slow for as long as
// its first requests last.
//
// What a request did is known exactly when it has ended. While some of those in the span
// are still in flight the rates are taken from the Frames instead: from the tokens of each
// slice and the streams in flight at its end.
type flow struct {
	seen      int           // requests that ended
	out, in   float64       // tokens of those that succeeded
	uncounted int           // of these, the ones whose prompt nobody counted
	done      float64       // requests that succeeded, by their share
	open      time.Duration // summed time of streams in flight

	arrived  float64 // tokens in the slices, as they are counted on arrival
	bins     bins
	inFlight opt.TimeMean
	live     int // tokens on arrival of the requests that count; see worth

	pending   int // requests of the span that have not ended
	pendingAt time.Duration
}

// leave notes that a request has ended, whatever became of it.
func (f *flow) leave(r *measure.Request) {
	if r.Intent <= f.pendingAt {
		f.pending = max(0, f.pending-1)
	}
}

// add takes a request that ended. The tokens of a request that failed or was cancelled are no
// throughput.
func (f *flow) add(r *measure.Request, s *Span) {
	f.seen++
	if r.Start >= r.Intent { // else nothing was ever sent
		from, to := s.clip(r.Start, r.End)
		f.open += to - from - s.stopped(from, to)
	}
	if r.Class != measure.OK {
		return
	}
	share := s.share(r)
	f.done += share
	if share > 0 && !promptCounted(r) {
		f.uncounted++
	}
	if !r.Streamed || r.Chunks == 0 {
		if s.contains(r.End) {
			f.in += float64(r.InTokens)
			f.out += float64(r.OutTokens)
		}
		return
	}
	if s.contains(r.First) {
		f.in += float64(r.InTokens)
	}
	f.out += tokensWithin(r, s)
}

// tokensWithin is how many output tokens of a stream arrived in the span. Usage reports only
// their sum, so each chunk after the first is taken to hold its equal share.
func tokensWithin(r *measure.Request, s *Span) float64 {
	if len(s.stops) == 0 && s.contains(r.First) && s.contains(r.Last) {
		return float64(r.OutTokens)
	}
	first := float64(min(r.FirstTokens, r.OutTokens))
	perChunk, inside := 0.0, 0.0
	if r.Chunks > 1 {
		perChunk = (float64(r.OutTokens) - first) / float64(r.Chunks-1)
	} else {
		first = float64(r.OutTokens)
	}
	if s.contains(r.First) {
		inside = first
	}
	return inside + perChunk*float64(laterChunksWithin(r, s))
}

// laterChunksWithin counts the chunks after the first that arrived in the span. Where the
// gaps are not kept the chunks are taken as evenly spread.
func laterChunksWithin(r *measure.Request, s *Span) int {
	n := 0
	at := float64(r.First)
	for i := range r.Chunks - 1 {
		if i < len(r.GapsMS) {
			at += float64(r.GapsMS[i]) * float64(time.Millisecond)
		} else {
			at += (float64(r.Last) - at) / float64(r.Chunks-1-i)
		}
		if s.contains(time.Duration(at)) {
			n++
		}
	}
	return n
}

// count takes a request that counts: what its tokens were taken for as they arrived.
func (f *flow) count(r *measure.Request) {
	switch {
	case r.Class == measure.Cancelled:
	case r.Source == measure.UsagePerChunk:
		f.live += r.OutTokens
	default:
		f.live += r.Chunks
	}
}

// frame takes a Frame of which so much is in the span.
func (f *flow) frame(fr *frame.Frame, held time.Duration, s *Span) {
	if s.contains(fr.At) {
		f.pending, f.pendingAt = fr.Client.InFlight, fr.At
	}
	if held == 0 {
		return
	}
	tokens := float64(fr.Client.SliceOutTokens) * float64(held) / float64(fr.Slice)
	f.arrived += tokens
	f.bins.add(tokens, held)
	f.inFlight.Add(opt.Of(float64(fr.Client.InFlight)), held)
}

// rates are over the length of the span. l holds the requests that count.
func (f *flow) rates(length time.Duration, l *Level) (r Rates, inFlight opt.Float) {
	if length <= 0 {
		return Rates{}, opt.Float{}
	}
	seconds := length.Seconds()
	// worth is what a token stands for that was counted on arrival, by the requests that have
	// ended: several tokens in a chunk, or none if they failed.
	worth := ratio(l.Tokens.Output, f.live)
	r.SlowestPerS, r.FastestPerS, r.StandardError = f.bins.spread(worth.Or(1))
	if f.pending > 0 {
		f.liveRates(&r, worth, seconds, l)
		return r, f.inFlight.Mean()
	}
	if f.seen == 0 {
		return r, f.inFlight.Mean()
	}
	r.OutTokensPerS, r.RequestsPerS = opt.Of(f.out/seconds), opt.Of(f.done/seconds)
	if f.uncounted == 0 {
		r.InTokensPerS = opt.Of(f.in / seconds)
	}
	return r, opt.Of(f.open.Seconds() / seconds)
}

// liveRates are those of a span in which requests are still in flight.
func (f *flow) liveRates(r *Rates, worth opt.Float, seconds float64, l *Level) {
	if l.OK == 0 {
		return
	}
	ok, output := float64(l.OK), float64(l.Tokens.Output)
	out, perRequest := output/seconds, output/ok
	if worth.OK { // replies that came whole arrived all at once
		out = worth.V * f.arrived / seconds
	}
	r.OutTokensPerS, r.RequestsPerS = opt.Of(out), opt.Of(ok/seconds)
	if perRequest > 0 {
		r.RequestsPerS = opt.Of(out / perRequest)
	}
	if l.Tokens.Uncounted == 0 {
		r.InTokensPerS = opt.Of(r.RequestsPerS.V * float64(l.Tokens.Input) / ok)
	}
}

// binLength is the length of the stretches whose throughput shows the spread. It is that of
// the windows by which a level settles.
const binLength = 2 * time.Second

// bins are the rates in whole stretches of that length.
type bins struct {
	rates  measure.Moments
	tokens float64 // of the one that is being filled
	filled time.Duration
}

func (b *bins) add(tokens float64, held time.Duration) {
	b.tokens += tokens
	b.filled += held
	if b.filled >= binLength {
		b.rates.Add(b.tokens / b.filled.Seconds())
		b.tokens, b.filled = 0, 0
	}
}

// spread gives the lowest and the highest rate, and the standard error of the mean by batch
// means (Law, Simulation Modeling and Analysis, 9.5.3): s/√k of k batches. Each token is
// worth so many.
func (b *bins) spread(worth float64) (low, high, standardError opt.Float) {
	r := &b.rates
	if r.N == 0 {
		return low, high, standardError
	}
	// Std divides by k instead of k − 1.
	return opt.Of(r.Min * worth), opt.Of(r.Max * worth), opt.Of(worth * r.Std() / math.Sqrt(float64(r.N-1)))
}
