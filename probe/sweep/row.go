// Package sweep finds out what load a service holds: it steps through load
// settings, keeps a row of figures for each, and says where throughput stops
// paying for latency (the knee), which resource is exhausted there, and which is
// the largest load that meets the service levels.
//
// Everything in it learns from Frames alone, and what it wants goes through
// Controls alone: the live screen and `sonde sweep` use the same code.
package sweep

import (
	"slices"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Row is what was measured at one load setting. Its figures come from requests that
// started and ended at that setting after it had settled; as long as it has not
// settled they are provisional, from all that started and ended at it. Latencies
// are milliseconds, shares 0 to 1; what is unknown stays unknown.
type Row struct {
	Load    frame.Load
	Level   int           // number of the newest stretch at this setting, as in LoadState.Level
	Visits  int           // stretches that the figures are of
	Since   time.Duration // when the newest stretch began, since the session began
	Settled bool
	Held    time.Duration // what the rates are taken over

	TTFT, TPOT, E2E, Gap, ClientQueue measure.Summary

	OutTokensPerS       opt.Float // of requests that succeed, by arrival
	InTokensPerS        opt.Float
	RequestsPerS        opt.Float
	StreamTokensPerS    opt.Float // of one stream while it decodes: 1000 / mean TPOT
	InputTokens         opt.Float // mean prompt length, as the server counts
	OutputTokens        opt.Float // mean answer length
	SlowestPerS         opt.Float // output tokens/s in the slowest stretch of two seconds,
	FastestPerS         opt.Float // and in the fastest: the spread of the throughput
	StandardError       opt.Float // of OutTokensPerS, from the scatter of those stretches
	InFlight            opt.Float // time-weighted mean
	Little              opt.Float // InFlight / (RequestsPerS × mean E2E), about 1 in a steady state
	OK, Failed, Refused int       // requests; Refused are those of the failed that hit a rate limit

	Running, Waiting, WaitingMax opt.Float // requests in the engine; means and the largest
	KV, KVMax                    opt.Float
	Preemptions                  opt.Float
	SM, DRAM, Tensor, MFU        opt.Float // means over time and GPUs

	ClientBound bool   // for a good part of the time the client was the limit
	ClientWhy   string // how it was

	SLOs      []SLOResult // in the order in which they were asked
	GoodShare opt.Float   // of all requests, those that meet every SLO; unknown without SLOs
	Goodput   opt.Float   // of these per second
}

// N is the number of requests that succeeded.
func (r *Row) N() int { return r.OK }

// RPM is requests per minute.
func (r *Row) RPM() opt.Float { return r.RequestsPerS.Scale(60) }

// TPM is tokens per minute, in and out.
func (r *Row) TPM() opt.Float {
	if !r.InTokensPerS.OK || !r.OutTokensPerS.OK {
		return opt.Float{}
	}
	return opt.Of(60 * (r.InTokensPerS.V + r.OutTokensPerS.V))
}

// ErrorShare is the share of requests that failed; unknown if none has ended.
func (r *Row) ErrorShare() opt.Float {
	if r.OK+r.Failed == 0 {
		return opt.Float{}
	}
	return opt.Of(float64(r.Failed) / float64(r.OK+r.Failed))
}

// Amount is how much load the row is of: requests per second in an open loop,
// streams in a closed one.
func (r *Row) Amount() float64 { return Amount(r.Load) }

// Verdict is how the row stands to all service levels together. Latencies are of the
// requests that succeed: where many fail and no level says how many may, those few prove
// no service level.
func (r *Row) Verdict() Verdict {
	v := together(r.SLOs)
	if r.unserved() && (v.Met() || v == NotJudged) {
		return SeemsFails
	}
	return v
}

// unserved tells that too many requests fail for any latency to count.
func (r *Row) unserved() bool {
	return len(r.SLOs) > 0 && r.failsMuch() && !slices.ContainsFunc(r.SLOs, func(s SLOResult) bool { return s.SLO.Metric == metricSuccess })
}

// Amount is how much load l is: requests per second in an open loop, streams in a
// closed one.
func Amount(l frame.Load) float64 {
	if l.Rate > 0 {
		return l.Rate
	}
	return float64(l.Concurrency)
}

// comparable tells whether two loads are points of one curve: they differ in their
// amount only.
func comparable(a, b frame.Load) bool { return withoutAmount(a) == withoutAmount(b) }

// withoutAmount keeps what makes a load, but for how much of it there is; of an open loop
// that is not its cap.
func withoutAmount(l frame.Load) frame.Load {
	if l.Rate > 0 {
		l.Rate = 1
	} else {
		l.Concurrency, l.Poisson = 1, false
	}
	return l
}
