// Package level turns Frames into what was measured at one load: a Level. It is the one
// aggregator of the program: the live screen, the sweep, the verdicts and the reports read
// the same Levels. A Tally gathers one of them, a Book those of a whole session.
//
// Everything in it learns from Frames alone, fed in order by one goroutine.
package level

import (
	"cmp"
	"slices"
	"time"

	"sonde/gpu"
	"sonde/probe/arrivals"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/roofline"
	"sonde/probe/slo"
)

// Level is what was measured at one load. It is immutable. Its figures come from requests
// that started and ended at that load after it had settled; until it has settled they are
// provisional, from all that started and ended at it. Latencies are milliseconds, shares 0
// to 1; what is unknown stays unknown.
type Level struct {
	ID      int           // another one as soon as the figures begin anew
	Load    frame.Load    // as it was requested, brought into range
	Number  int           // of the newest visit that counts, as in LoadState.Level
	Visits  int           // stretches at this load that the figures are of
	Since   time.Duration // when the newest of them began, since the session began
	From    time.Duration // when the first of them began to count
	Settled bool
	Held    time.Duration // what the rates are taken over: without warm-up, drain and stops

	measure.Counts
	Errors []ErrorCount // most frequent first
	Tokens Tokens

	measure.Latencies[measure.Summary]                 // of the requests that succeeded
	InputLengths, OutputLengths        measure.Summary // tokens of these requests, as the server counts
	RequestedInputs, RequestedOutputs  measure.Summary // tokens that were requested of them
	Distributions                      *Distributions  // behind these; nil in all but the Detailed ones

	Turns []Turn // of conversations, by turn from 1; none without them

	Rates
	InFlight opt.Float // time-weighted mean
	Little   opt.Float // InFlight / (RequestsPerS × mean E2E), about 1 in a steady state

	Engine                Engine
	GPUs                  []GPU           // in the order in which they first appeared
	SM, DRAM, Tensor, MFU opt.Float       // means over time and GPUs
	Roofline              roofline.Bounds // what the hardware allows at least; unknown where the model or the hardware is
	Client                Client

	SLOs      []slo.Result // in the order in which they were given
	GoodShare opt.Float    // of all requests, those that meet every SLO; unknown without SLOs
	Goodput   opt.Float    // of these per second

	Replay  *frame.TraceState // what became of the trace that is its load; nil: it is none
	Notes   []Note
	Sources Sources
}

// Rates are per second of the time that counts. A request that reaches over an edge of it
// counts with the share of its duration, t0 to t_end, that lies inside: counting ends alone
// would miss, at C streams and a service time s, up to C requests. Tokens count by their
// arrival, those of requests that succeed.
type Rates struct {
	RequestsPerS     opt.Float
	OutTokensPerS    opt.Float
	InTokensPerS     opt.Float
	StreamTokensPerS opt.Float // of one stream while it decodes: 1000 / mean TPOT
	SlowestPerS      opt.Float // output tokens/s in the slowest stretch of two seconds,
	FastestPerS      opt.Float // and in the fastest: the spread of the throughput
	StandardError    opt.Float // of OutTokensPerS, from the scatter of those stretches
}

// TokensPerS are tokens in and out.
func (r *Rates) TokensPerS() opt.Float {
	if !r.InTokensPerS.OK || !r.OutTokensPerS.OK {
		return opt.Float{}
	}
	return opt.Of(r.InTokensPerS.V + r.OutTokensPerS.V)
}

// RPM is requests per minute.
func (r *Rates) RPM() opt.Float { return r.RequestsPerS.Scale(60) }

// TPM is tokens per minute, in and out.
func (r *Rates) TPM() opt.Float { return r.TokensPerS().Scale(60) }

// Sources are the server and the hardware behind the figures, as they showed last.
type Sources struct {
	Target    frame.Target
	Identity  engine.Identity
	Read      bool           // the engine was read
	EngineWhy string         // why there is no reading of it, or no newer one
	Engine    engine.State   // what became of its readings
	LastRead  time.Time      // when the engine was last read
	Unread    time.Duration  // how long before the end that was; 0 while its readings are fresh
	Settings  engine.Reading // what the engine's metrics say of how it was started
	GPU       gpu.Status
	limits    *roofline.Roofline // nil: found by what the rest shows
}

// Amount is how much load the level is of; see Amount.
func (l *Level) Amount() float64 { return Amount(l.Load) }

// Verdict is how the level stands to all SLOs together. Latencies are of the requests that
// succeed: where many fail and no SLO says how many may, those few prove nothing.
func (l *Level) Verdict() slo.Verdict {
	v := slo.Together(l.SLOs)
	if l.Unserved() && (v.Met() || v == slo.NotJudged) {
		return slo.SeemsFails
	}
	return v
}

// Confidence is how sure the least sure of the SLO results is.
func (l *Level) Confidence() opt.Float { return slo.Confidence(l.SLOs) }

// Unserved reports whether too many requests fail for any latency to count.
func (l *Level) Unserved() bool {
	if len(l.SLOs) == 0 || !l.FailsMuch() {
		return false
	}
	for i := range l.SLOs {
		if l.SLOs[i].Target.Metric == slo.Success {
			return false
		}
	}
	return true
}

// Amount is how much load l is: requests per second in an open loop, streams in a closed
// one.
func Amount(l frame.Load) float64 {
	if l.Rate > 0 {
		return l.Rate
	}
	return float64(l.Concurrency)
}

// Comparable reports whether two loads are points of one curve: they differ in their amount
// only.
func Comparable(a, b frame.Load) bool { return withoutAmount(a) == withoutAmount(b) }

// withoutAmount keeps what makes a load, except how much of it there is; in an open loop
// that is not its cap.
func withoutAmount(l frame.Load) frame.Load {
	if l.Rate > 0 {
		l.Rate, l.Ramp = 1, arrivals.Ramp{} // what counts comes after the ramp
	} else {
		l.Concurrency, l.Arrivals = 1, arrivals.Process{}
	}
	return l
}

// Curve are the levels that can be compared with a load: its lengths, its kind of loop; by
// amount, smallest first.
func Curve(levels []Level, like frame.Load) []Level {
	var out []Level
	for i := range levels {
		if Comparable(levels[i].Load, like) {
			out = append(out, levels[i])
		}
	}
	slices.SortStableFunc(out, func(a, b Level) int { return cmp.Compare(a.Amount(), b.Amount()) })
	return out
}
