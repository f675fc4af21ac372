package headless

import (
	"cmp"
	"maps"
	"slices"

	"sonde/probe/diagnose"
	"sonde/probe/opt"
)

// Summary sums up the Frames so far.
func (a *Accumulator) Summary() Summary {
	c := &a.counts
	rates := a.rates()
	s := Summary{
		Schema:          Schema,
		DurationS:       number(opt.Of(a.time.length().Seconds())),
		Interrupted:     a.interrupted,
		Seed:            a.plan.Seed,
		Target:          a.target(),
		Load:            a.load(),
		Requests:        c.requests,
		Errors:          c.errors.List(),
		Notes:           a.remarks(rates),
		Tokens:          c.tokenCounts(),
		Lengths:         c.lengths.table(),
		LatencyMS:       latencyTable(&a.latency),
		Rates:           rates,
		ConcurrencyMean: number(a.concurrency()),
		LittleRatio:     number(a.little(rates)),
		SLO:             a.slo.results(&a.latency, c.successShare()),
		Engine:          a.engine.figures(),
		GPUs:            a.gpus.figures(),
		Client:          a.client.figures(c.coalescedShare()),
		Verdict:         a.findings(),
	}
	if a.last != nil && !a.last.Target.Started.IsZero() {
		s.Started = Instant(a.last.Target.Started.Add(a.time.from))
	}
	s.Requests.ByClass = maps.Clone(c.requests.ByClass) // the Summary outlives further Frames
	s.Roofline = a.roofline()
	if len(a.plan.SLOs) > 0 {
		s.GoodputPerS = number(a.perSecond(a.slo.goodInWindow))
		s.GoodShare = share(ratio(a.slo.good, a.slo.judged))
	}
	return s
}

func (a *Accumulator) load() Load {
	asked := a.plan.Load
	if a.first != nil {
		asked = a.first.Load.Asked // brought into range
	}
	l := Load{
		Mode: "closed", Concurrency: asked.Concurrency, Prefix: Text(cmp.Or(asked.Prefix, a.plan.Prefix)),
		OutputTokens: asked.OutputTokens,
	}
	if asked.InputTokens > 0 {
		l.InputTokens = opt.Of(float64(asked.InputTokens))
	}
	if asked.Rate > 0 {
		l.Mode, l.Rate, l.Poisson = "open", number(opt.Of(asked.Rate)), asked.Poisson
	}
	return l
}

// perSecond divides by the window's length; unknown for an empty window.
func (a *Accumulator) perSecond(v float64) opt.Float {
	if a.time.length() <= 0 {
		return opt.Float{}
	}
	return opt.Of(v / a.time.length().Seconds())
}

func (a *Accumulator) rates() Rates {
	requests := a.perSecond(a.flow.done)
	out := a.perSecond(a.flow.out)
	var in, total opt.Float
	if a.flow.uncounted == 0 {
		in, total = a.perSecond(a.flow.in), a.perSecond(a.flow.in+a.flow.out)
	}
	perMinute := func(f opt.Float) Number { return number(f.Scale(60)) }
	r := Rates{
		RequestsPerS: number(requests), InputPerS: number(in), OutputPerS: number(out), TotalPerS: number(total),
		RPM: perMinute(requests), InputTPM: perMinute(in), OutputTPM: perMinute(out), TotalTPM: perMinute(total),
	}
	if tpot := a.latency.TPOT.Summary(); tpot.N > 0 && tpot.Mean > 0 {
		r.OutputPerSStream = number(opt.Of(1000 / tpot.Mean))
	}
	return r
}

// concurrency is the time-weighted mean of streams in flight.
func (a *Accumulator) concurrency() opt.Float { return a.perSecond(a.flow.open.Seconds()) }

// little compares the streams in flight with rate × mean E2E; about 1 in a
// steady state.
func (a *Accumulator) little(rates Rates) opt.Float {
	e2e := a.latency.E2E.Summary()
	inFlight := a.concurrency()
	if !inFlight.OK || e2e.N == 0 || rates.RequestsPerS.V == 0 || e2e.Mean == 0 {
		return opt.Float{}
	}
	return opt.Of(inFlight.V / (rates.RequestsPerS.V * e2e.Mean / 1000))
}

// findings are the verdicts as they stood when the window closed, and on the tail
// of the whole run: the slowest request may have ended later.
func (a *Accumulator) findings() []Verdict {
	out := a.missedLevels()
	all := a.verdicts()
	tail, hasTail := diagnose.Tail(a.latency.E2E.Summary())
	if hasTail {
		all = withTail(all, tail)
	}
	unwell := len(out) > 0 || hasTail
	for _, v := range all {
		if unwell && v.Severity == diagnose.Healthy {
			continue
		}
		evidence := v.Evidence
		if evidence == nil {
			evidence = []string{}
		}
		out = append(out, Verdict{Rule: string(v.Rule), Says: v.Text, Evidence: evidence, Advice: v.Advice})
	}
	return out
}

// withTail puts the verdict on the tail before the remarks, unless there is one.
func withTail(all []diagnose.Verdict, tail diagnose.Verdict) []diagnose.Verdict {
	first := len(all)
	for i, v := range all {
		if v.Rule == tail.Rule {
			return all
		}
		if v.Severity < diagnose.Warn {
			first = min(first, i)
		}
	}
	return slices.Insert(all, first, tail)
}

// missedLevels are the service levels that the run as a whole missed. The judge
// knows none: it looks at the live window, and the two would disagree.
func (a *Accumulator) missedLevels() []Verdict {
	out := []Verdict{}
	for _, r := range a.slo.results(&a.latency, a.counts.successShare()) {
		if r.Met == nil || *r.Met {
			continue
		}
		out = append(out, Verdict{Rule: string(diagnose.RuleSLO), Says: "missed " + r.SLO + ": it is " + r.ActualText(), Evidence: []string{}})
	}
	return out
}
