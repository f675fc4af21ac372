package merge

import (
	"fmt"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/slo"
)

// distributions adds those of all parts, and describes the sums.
func (m *merger) distributions() error {
	out := &report.Distributions{}
	described := m.out.LatencyMS.All()
	latency := m.latency.All()
	for i, into := range out.LatencyMS.All() {
		d, err := m.sum(measure.Metrics[i].Name, func(d *report.Distributions) *measure.Distribution { return *d.LatencyMS.All()[i] })
		if err != nil {
			return err
		}
		*latency[i], *into, *described[i] = d, d.Distribution(), describe(d)
	}
	l := &m.out.Lengths
	lengths := []*report.Quantiles{&l.Input, &l.Output, &l.RequestedInput, &l.RequestedOutput}
	for i, into := range out.Lengths.All() {
		d, err := m.sum("lengths", func(d *report.Distributions) *measure.Distribution { return *d.Lengths.All()[i] })
		if err != nil {
			return err
		}
		*into = d.Distribution()
		if i < 2 || lengths[i].N > 0 { // what was requested is only described where it scatters
			*lengths[i] = describe(d)
		}
	}
	err := m.turns(out)
	m.out.Distributions = out
	return err
}

// sum adds one distribution of all parts.
func (m *merger) sum(name string, of func(*report.Distributions) *measure.Distribution) (*measure.Dist, error) {
	sum := measure.NewDist(0)
	first := true
	for i := range m.parts {
		p := &m.parts[i]
		one := of(p.Distributions)
		if one == nil {
			continue
		}
		d, err := one.Dist()
		if err != nil {
			return nil, fmt.Errorf("%s: the distribution of %s cannot be added: %w", p.Name, name, err)
		}
		if first {
			sum, first = d, false
			continue
		}
		sum.Merge(d)
	}
	return sum, nil
}

func describe(d *measure.Dist) report.Quantiles {
	s := d.Summary()
	return report.QuantilesOf(&s)
}

// turns merges the rows of conversations, which all parts have if one has them.
func (m *merger) turns(out *report.Distributions) error {
	rows := 0
	for i := range m.parts {
		rows = max(rows, len(m.parts[i].Turns))
	}
	m.out.Turns = nil
	for at := range rows {
		d, err := m.sum("turns", func(d *report.Distributions) *measure.Distribution {
			if at < len(d.TurnTTFT) {
				return d.TurnTTFT[at]
			}
			return nil
		})
		if err != nil {
			return err
		}
		row := report.Turn{Turn: at + 1, TTFTMS: describe(d)}
		mean := func(of func(*report.Turn) opt.Float) opt.Float {
			return m.weighted(func(s *report.Summary) (opt.Float, float64) {
				if at >= len(s.Turns) {
					return opt.Float{}, 0
				}
				return of(&s.Turns[at]), float64(s.Turns[at].N)
			})
		}
		for i := range m.parts {
			if t := m.parts[i].Turns; at < len(t) {
				row.N += t[at].N
				row.Later = row.Later || t[at].Later
			}
		}
		row.InputTokens = report.Rounded(mean(func(t *report.Turn) opt.Float { return t.InputTokens }))
		row.CachedTokens = report.Rounded(mean(func(t *report.Turn) opt.Float { return t.CachedTokens }))
		row.HistoryHitShare = report.RoundedShare(mean(func(t *report.Turn) opt.Float { return t.HistoryHitShare }))
		if row.InputTokens.OK && row.CachedTokens.OK {
			row.CachedShare = report.RoundedShare(opt.Of(row.CachedTokens.V / row.InputTokens.V))
		}
		m.out.Turns = append(m.out.Turns, row)
		out.TurnTTFT = append(out.TurnTTFT, d.Distribution())
	}
	return nil
}

// slos judges the SLOs on all samples together.
func (m *merger) slos() {
	results := []report.SLOResult{}
	for _, one := range m.out.SLO {
		targets, err := slo.Parse(one.SLO)
		if err != nil || len(targets) != 1 {
			continue // from another version
		}
		r := m.judge(targets[0])
		results = append(results, report.SLOResultOf(&r))
	}
	m.out.SLO = results
}

func (m *merger) judge(t slo.Target) slo.Result {
	q := &m.out.Requests
	if t.Metric == slo.Success {
		return slo.Judge(t, opt.Of(1-q.ErrorShare().V), q.Failed, q.OK+q.Failed)
	}
	d := *m.latency.All()[measure.MetricNamed(t.Metric)]
	n, over := d.N(), d.Above(t.LimitMS)
	if t.Metric == slo.Gap {
		over, n = slo.Batches(over, n, m.out.ConcurrencyMean.Or(1))
	}
	var actual opt.Float
	actual.V, actual.OK = d.Quantile(t.Quantile)
	return slo.Judge(t, actual, over, n)
}
