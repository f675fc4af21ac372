package report

import (
	"cmp"
	"slices"

	"sonde/probe/bench"
	"sonde/probe/diagnose"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

// New puts the outcome of a run at one load into the form of the files.
func New(o *bench.Outcome) Summary {
	l := &o.Level
	s := Summary{
		Run: Run{
			Schema: Schema, DurationS: Rounded(opt.Of(l.Held.Seconds())), Interrupted: o.Interrupted, EndedEarly: Text(endedEarly(o)), Seed: o.Plan.Seed,
			Target: targetOf(l), Load: loadOf(l.Load, o.Plan.Prefix),
		},
		Requests: l.Counts, Errors: list(l.Errors), Notes: remarks(o), Tokens: tokensOf(l),
		Lengths: lengthsOf(l), Turns: turnsOf(l), Distributions: l.Distributions,
		Rates: RatesOf(&l.Rates), ConcurrencyMean: Rounded(l.InFlight), LittleRatio: Rounded(l.Little),
		GoodputPerS: Rounded(l.Goodput), GoodShare: RoundedShare(l.GoodShare), SLO: []SLOResult{},
		Engine: engineOf(&l.Engine), GPUs: []GPUFigures{},
		Roofline: Roofline{
			TPOTFloorMS: Rounded(l.Roofline.TPOTFloorMS), TTFTFloorMS: Rounded(l.Roofline.TTFTFloorMS),
			MBU: RoundedShare(l.Roofline.MBU), MFU: RoundedShare(l.Roofline.MFU),
		},
		sm: RoundedShare(l.SM), dram: RoundedShare(l.DRAM),
		Client: ClientFigures{
			Stamps: Text(l.Client.Stamps), LateMSP99: Rounded(l.Client.LateMSP99), CPU: Rounded(l.Client.CPU),
			CoalescedShare: RoundedShare(l.Tokens.CoalescedShare()), Bottleneck: l.Client.Doubtful(), Workers: workersOf(l.Client.Workers),
		},
	}
	s.Load.Trace = traceOf(l)
	all := l.Latencies.All()
	for i, into := range s.LatencyMS.All() {
		*into = QuantilesOf(all[i])
	}
	if s.Requests.ByClass == nil {
		s.Requests.ByClass = map[measure.Class]int{}
	}
	if started := l.Sources.Target.Started; !started.IsZero() {
		s.Started = Instant{started.Add(l.From)}
	}
	for i := range l.SLOs {
		s.SLO = append(s.SLO, SLOResultOf(&l.SLOs[i]))
	}
	for i := range l.GPUs {
		g := &l.GPUs[i]
		s.GPUs = append(s.GPUs, GPUFigures{
			ID: g.ID, Name: g.Name, Source: g.Source, SMMean: RoundedShare(g.SM), DRAMMean: RoundedShare(g.DRAM), BusyMean: RoundedShare(g.Busy),
			MemUsedMax: Rounded(g.MemUsedMax), PowerWMean: Rounded(g.Power),
		})
	}
	s.Verdict, s.Incidents = findings(s.SLO, o), incidents(o.Incidents)
	return s
}

// list is never null.
func list[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}

func loadOf(requested frame.Load, prefix string) Load {
	l := Load{
		Mode: "closed", Mark: Mark{Concurrency: requested.Concurrency}, Prefix: Text(cmp.Or(requested.Prefix, prefix)),
		OutputTokens: requested.OutputTokens,
	}
	l.conversations(requested)
	l.InputSpread, l.OutputSpread = spread(requested.Input()), spread(requested.Output())
	if requested.InputTokens > 0 {
		l.InputTokens = opt.Of(float64(requested.InputTokens))
	}
	if requested.Rate > 0 {
		l.Mode, l.Rate = "open", Rounded(opt.Of(requested.Rate))
		l.Ramp = rampOf(requested)
		if requested.Trace == "" {
			l.Arrivals = Text(requested.Arrivals.String())
		}
	}
	return l
}

// lengthsOf has what was requested only where it is more than one length.
func lengthsOf(l *level.Level) Lengths {
	out := Lengths{Input: QuantilesOf(&l.InputLengths), Output: QuantilesOf(&l.OutputLengths)}
	if l.Load.InputShape != (length.Shape{}) || l.Load.OutputShape != (length.Shape{}) {
		out.RequestedInput, out.RequestedOutput = QuantilesOf(&l.RequestedInputs), QuantilesOf(&l.RequestedOutputs)
	}
	return out
}

// spread writes lengths that scatter, nothing for others.
func spread(l length.Length) Text {
	if l.Shape == (length.Shape{}) {
		return ""
	}
	return Text(l.String())
}

func rampOf(l frame.Load) Ramp {
	if l.Ramp.Over == 0 {
		return Ramp{}
	}
	return Ramp{From: Rounded(opt.Of(l.Ramp.From)), To: Rounded(opt.Of(l.Rate)), OverS: Rounded(opt.Of(l.Ramp.Over.Seconds()))}
}

// QuantilesOf describes a distribution.
func QuantilesOf(d *measure.Summary) Quantiles {
	known := func(v float64) Number { return Rounded(d.Value(v)) }
	return Quantiles{
		N: d.N, Mean: known(d.Mean), Min: known(d.Min), P50: known(d.P50), P90: known(d.P90), P95: known(d.P95),
		P99: known(d.P99), P999: known(d.P999), Max: known(d.Max), Weak: d.Weak(), Std: known(d.Std),
	}
}

// RatesOf adds the rates per minute.
func RatesOf(r *level.Rates) Rates {
	perMinute := func(f opt.Float) Number { return Rounded(f.Scale(60)) }
	total := r.TokensPerS()
	return Rates{
		RequestsPerS: Rounded(r.RequestsPerS), InputPerS: Rounded(r.InTokensPerS), OutputPerS: Rounded(r.OutTokensPerS), TotalPerS: Rounded(total),
		RPM: perMinute(r.RequestsPerS), InputTPM: perMinute(r.InTokensPerS), OutputTPM: perMinute(r.OutTokensPerS), TotalTPM: perMinute(total),
		OutputPerSStream: Rounded(r.StreamTokensPerS),
	}
}

// tokensOf are the sums over the requests; those over prompts are unknown if one of them was
// not counted.
func tokensOf(l *level.Level) TokenCounts {
	t := &l.Tokens
	out := TokenCounts{Output: t.Output, PartialOutput: t.PartialOutput, Reasoning: t.Reasoning, PerChunk: Rounded(t.PerChunk())}
	if t.Uncounted == 0 {
		out.Input, out.CachedInput = opt.Of(float64(t.Input)), opt.Of(float64(t.CachedInput))
	}
	for source := range t.BySource {
		out.Source = Text(source)
	}
	if len(t.BySource) > 1 {
		out.Source = "mixed"
	}
	return out
}

// SLOResultOf is how an SLO came out, for a file.
func SLOResultOf(r *slo.Result) SLOResult {
	t := &r.Target
	out := SLOResult{SLO: t.Text, Metric: t.Metric}
	if t.Metric == slo.Success {
		out.Limit, out.Actual = Rounded(opt.Of(t.SuccessShare)), RoundedShare(r.Actual)
	} else {
		out.Quantile, out.Limit, out.Actual = Rounded(opt.Of(t.Quantile)), Rounded(opt.Of(t.LimitMS)), Rounded(r.Actual)
	}
	if r.Verdict != slo.NotJudged {
		met := r.Verdict.Met()
		out.Met = &met
	}
	return out
}

func engineOf(e *level.Engine) EngineFigures {
	return EngineFigures{
		RunningMean: Rounded(e.Running), WaitingMax: Rounded(e.WaitingMax), KVFillMean: RoundedShare(e.KV), KVFillMax: RoundedShare(e.KVMax),
		Preemptions: Rounded(e.Preemptions), PrefixHitRate: RoundedShare(e.PrefixHitRate), OutputPerS: Rounded(e.OutTokensPerS),
		LatencyMS: EngineLatencies{TTFT: estimate(e.TTFT), Gap: estimate(e.Gap), Queue: estimate(e.Queue), E2E: estimate(e.E2E)},
	}
}

// estimate describes one of the engine's histograms.
func estimate(h engine.Histogram) Estimate {
	e := Estimate{N: int(h.Count), Above: map[string]Number{}, Below: map[string]Number{}}
	if e.N == 0 {
		return e
	}
	e.Mean = Rounded(h.Mean().Scale(1000))
	for _, p := range []struct {
		name string
		q    float64
		into *Number
	}{{"p50", 0.5, &e.P50}, {"p95", 0.95, &e.P95}, {"p99", 0.99, &e.P99}} {
		seconds, above, ok := h.Quantile(p.q)
		if !ok {
			e.Above[p.name] = Rounded(opt.Of(1000 * above))
			continue
		}
		*p.into = Rounded(opt.Of(1000 * seconds))
		if h.Counts[0] >= p.q*h.Count { // the lowest bucket says only that it is below the bound
			e.Below[p.name] = Rounded(opt.Of(1000 * h.Bounds[0]))
		}
	}
	return e
}

// Missed is the verdict on an SLO that was missed.
func (r *SLOResult) Missed() Verdict {
	return Verdict{Rule: string(diagnose.RuleSLO), Says: "missed " + r.SLO + ": it is " + r.ActualText(), Evidence: []string{}}
}

// findings are the SLOs that the run as a whole missed, the verdicts as they stood when the
// window closed, and that on the tail of the whole run: the slowest request may have ended
// later.
func findings(slos []SLOResult, o *bench.Outcome) []Verdict {
	out := []Verdict{}
	for i := range slos {
		if r := &slos[i]; r.Met != nil && !*r.Met {
			out = append(out, r.Missed())
		}
	}
	all := o.Verdicts
	tail, hasTail := diagnose.Tail(o.Level.E2E)
	if hasTail {
		all = withTail(all, tail)
	}
	unwell := len(out) > 0 || hasTail
	for _, v := range all {
		if !unwell || v.Severity != diagnose.Healthy {
			out = append(out, Verdict{Rule: string(v.Rule), Says: v.Text, Evidence: list(v.Evidence), Advice: v.Advice})
		}
	}
	return out
}

func incidents(all []diagnose.Incident) []Incident {
	out := []Incident{}
	for i := range all {
		d := &all[i]
		of := Incident{Rule: string(d.Rule), Severity: d.Severity.String(), Says: d.Text, FromS: Rounded(opt.Of(d.From.Seconds()))}
		if !d.Open {
			of.ToS = Rounded(opt.Of(d.To.Seconds()))
		}
		out = append(out, of)
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
	return slices.Insert(slices.Clone(all), first, tail)
}
