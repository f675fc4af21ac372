// Package merge makes one Summary of those that several clients measured at the same time.
package merge

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/report"
)

// Part is the Summary of one client.
type Part struct {
	Name string
	report.Summary
}

// Merge adds the parts of one test. Percentiles are those of all samples together, rates and counts
// are sums; what the engine and the GPUs report is there once. It refuses parts of
// different tests, and parts that did not run at the same time, unless force is set.
func Merge(parts []Part, force bool) (report.Summary, error) {
	if len(parts) < 2 {
		return report.Summary{}, errors.New("merge needs two summaries or more: sonde merge a.json b.json")
	}
	for i := range parts {
		if p := &parts[i]; p.Distributions == nil {
			return report.Summary{}, fmt.Errorf("%s has no distributions, without which percentiles cannot be added: it is from an older sonde", p.Name)
		}
	}
	reasons := differences(parts)
	if len(reasons) > 0 && !force {
		return report.Summary{}, fmt.Errorf("not parts of one test: %s (--force merges them all the same)", reasons[0])
	}
	m := &merger{parts: parts, out: parts[0].Summary}
	m.run()
	m.load()
	m.counts()
	if err := m.distributions(); err != nil {
		return report.Summary{}, err
	}
	m.rates()
	m.slos()
	m.engine()
	m.gpus()
	m.clients()
	m.notes(reasons)
	m.verdicts()
	return m.out, nil
}

// merger makes the merged Summary, which begins as a copy of the first part.
type merger struct {
	parts   []Part
	out     report.Summary
	latency measure.Latencies[*measure.Dist]
	remarks []string // on the merging itself
}

// window is when a part was measured, by its own clock.
func (p *Part) window() (from, to time.Time) {
	return p.Started.Time, p.Started.Add(time.Duration(p.DurationS.Or(0) * float64(time.Second)))
}

// together is the time in which all parts were measured, and that from the first start to the last end.
func together(parts []Part) (common, whole time.Duration, first time.Time) {
	latestStart, lastEnd := parts[0].window()
	first, firstEnd := latestStart, lastEnd
	for i := range parts[1:] {
		start, end := parts[1+i].window()
		if start.After(latestStart) {
			latestStart = start
		}
		if start.Before(first) {
			first = start
		}
		if end.After(lastEnd) {
			lastEnd = end
		}
		if end.Before(firstEnd) {
			firstEnd = end
		}
	}
	return firstEnd.Sub(latestStart), lastEnd.Sub(first), first
}

// mostlyTogether is from which share of the whole time on rates may be added without a remark.
const mostlyTogether = 0.9

// run merges what a run is.
func (m *merger) run() {
	common, whole, first := together(m.parts)
	m.out.Started, m.out.DurationS = report.Instant{Time: first}, report.Rounded(opt.Of(whole.Seconds()))
	if share := common.Seconds() / whole.Seconds(); share < mostlyTogether {
		m.remark("the clients measured together for only %.1f of %.1f s, by their own clocks: rates are sums as if it had been all the time", max(0, common.Seconds()), whole.Seconds())
	}
	var early []string
	m.out.Incidents = []report.Incident{}
	for i := range m.parts {
		p := &m.parts[i]
		if p.Seed != m.out.Seed {
			m.out.Seed = 0 // each client has its own
		}
		m.out.Interrupted = m.out.Interrupted || p.Interrupted
		if p.EndedEarly != "" {
			early = append(early, p.Name+": "+string(p.EndedEarly))
		}
		for _, in := range p.Incidents { // by the seconds of that client's session
			in.Says = p.Name + ": " + in.Says
			m.out.Incidents = append(m.out.Incidents, in)
		}
	}
	m.out.EndedEarly = report.Text(strings.Join(early, "; "))
}

// load adds up what the clients sent.
func (m *merger) load() {
	l := &m.out.Load
	l.Concurrency = 0
	for i := range m.parts {
		l.Concurrency += m.parts[i].Load.Concurrency
	}
	for _, of := range []func(*report.Summary) *opt.Float{
		func(s *report.Summary) *opt.Float { return &s.Load.Rate },
		func(s *report.Summary) *opt.Float { return &s.Load.Ramp.From },
		func(s *report.Summary) *opt.Float { return &s.Load.Ramp.To },
		func(s *report.Summary) *opt.Float { return &s.Load.Trace.Arrivals },
		func(s *report.Summary) *opt.Float { return &s.Load.Trace.Sent },
		func(s *report.Summary) *opt.Float { return &s.Load.Trace.Waited },
		func(s *report.Summary) *opt.Float { return &s.Load.Trace.LeftOut },
		func(s *report.Summary) *opt.Float { return &s.Load.Trace.Cut },
		func(s *report.Summary) *opt.Float { return &s.Load.Trace.Skipped },
	} {
		*of(&m.out) = m.total(func(s *report.Summary) opt.Float { return *of(s) })
	}
	for i := range m.parts {
		l.Trace.LongestWaitMS = larger(l.Trace.LongestWaitMS, m.parts[i].Load.Trace.LongestWaitMS)
	}
}

// plus adds figures of which both have to be known.
func plus(sum, v opt.Float, first bool) opt.Float {
	switch {
	case first:
		return v
	case !sum.OK || !v.OK:
		return opt.Float{}
	}
	return opt.Of(sum.V + v.V)
}

// total is a sum over the parts, unknown if one of them is.
func (m *merger) total(of func(*report.Summary) opt.Float) opt.Float {
	var sum opt.Float
	for i := range m.parts {
		sum = plus(sum, of(&m.parts[i].Summary), i == 0)
	}
	return sum
}

// weighted is a mean over the parts that know the figure.
func (m *merger) weighted(of func(*report.Summary) (v opt.Float, weight float64)) opt.Float {
	sum, weights := 0.0, 0.0
	for i := range m.parts {
		if v, w := of(&m.parts[i].Summary); v.OK {
			sum, weights = sum+v.V*w, weights+w
		}
	}
	return opt.Of(sum / weights)
}

// counts adds requests, errors and tokens.
func (m *merger) counts() {
	var all measure.Counts
	var errs level.Errors
	t := report.TokenCounts{Source: m.out.Tokens.Source}
	chunks, streamed := 0.0, 0.0
	for i := range m.parts {
		p := &m.parts[i]
		all.Merge(&p.Requests)
		for _, e := range p.Errors {
			errs.Add(e.Class, e.Message, e.Count)
		}
		t.Output += p.Tokens.Output
		t.PartialOutput += p.Tokens.PartialOutput
		t.Reasoning += p.Tokens.Reasoning
		if p.Tokens.Source != t.Source {
			t.Source = "mixed"
		}
		if per := p.Tokens.PerChunk; per.V > 0 {
			streamed, chunks = streamed+float64(p.Tokens.Output), chunks+float64(p.Tokens.Output)/per.V
		}
	}
	t.Input = m.total(func(s *report.Summary) opt.Float { return s.Tokens.Input })
	t.CachedInput = m.total(func(s *report.Summary) opt.Float { return s.Tokens.CachedInput })
	t.PerChunk = report.Rounded(opt.Of(streamed / chunks))
	if all.ByClass == nil {
		all.ByClass = map[measure.Class]int{}
	}
	m.out.Requests, m.out.Tokens, m.out.Errors = all, t, errs.List()
	if m.out.Errors == nil {
		m.out.Errors = []report.ErrorCount{}
	}
}

// rates adds what passes in a second.
func (m *merger) rates() {
	r := level.Rates{
		RequestsPerS:  m.total(func(s *report.Summary) opt.Float { return s.Rates.RequestsPerS }),
		OutTokensPerS: m.total(func(s *report.Summary) opt.Float { return s.Rates.OutputPerS }),
		InTokensPerS:  m.total(func(s *report.Summary) opt.Float { return s.Rates.InputPerS }),
	}
	if tpot := m.out.LatencyMS.TPOT; tpot.N > 0 {
		r.StreamTokensPerS = opt.Of(1000 / tpot.Mean.V)
	}
	m.out.Rates = report.RatesOf(&r)
	m.out.ConcurrencyMean = m.total(func(s *report.Summary) opt.Float { return s.ConcurrencyMean })
	expected := r.RequestsPerS.Or(0) * m.out.LatencyMS.E2E.Mean.Or(0) / 1000
	m.out.LittleRatio = report.Rounded(m.out.ConcurrencyMean.Scale(1 / expected))
	m.out.GoodputPerS = m.total(func(s *report.Summary) opt.Float { return s.GoodputPerS })
	m.out.GoodShare = report.RoundedShare(m.weighted(func(s *report.Summary) (opt.Float, float64) {
		return s.GoodShare, float64(s.Requests.OK + s.Requests.Failed)
	}))
}
