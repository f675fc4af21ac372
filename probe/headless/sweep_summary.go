package headless

import (
	"slices"

	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/sweep"
)

// summary joins what the book holds with what the sweep concluded from the same
// Frames.
func (b *levelBook) summary(res sweep.Result, slos []SLO) SweepSummary {
	levels, texts := []Level{}, []string{}
	for _, slo := range slos {
		texts = append(texts, slo.Text)
	}
	for i := range res.Curve {
		if r := b.run(res.Curve[i].Load); r != nil {
			levels = append(levels, levelOf(r, &res.Curve[i]))
		}
	}
	s := report.NewSweep(levels, res, texts)
	s.Seed = b.plan.Seed
	if len(levels) == 0 { // interrupted before anything was measured: what was asked for
		none := NewAccumulator(b.plan)
		none.engine, none.last = b.engine, b.last
		s.Target, s.Load = none.target(), none.load()
	}
	return s
}

// others are the levels that are not on the curve.
func (b *levelBook) others(s *SweepSummary, rows []sweep.Row) {
	for i := range rows {
		onCurve := slices.ContainsFunc(s.Levels, func(l Level) bool { return l.Asked == rows[i].Load })
		if r := b.run(rows[i].Load); r != nil && !onCurve {
			s.Others = append(s.Others, levelOf(r, &rows[i]))
		}
	}
}

// levelOf joins what the book has of a level with its row, which has the last word on
// all that both know: the screen, the knee and the boundary go by rows.
func levelOf(r *levelRun, row *sweep.Row) Level {
	l := Level{
		Summary: r.acc.Summary(), Settled: row.Settled, Visits: row.Visits, SLOVerdict: Text(row.Verdict().String()),
		SLOConfidence: share(sweep.Confidence(row.SLOs)), SlowestPerS: number(row.SlowestPerS), FastestPerS: number(row.FastestPerS),
		Asked: row.Load,
	}
	perMinute := func(f opt.Float) Number { return number(f.Scale(60)) }
	total := opt.Float{}
	if row.InTokensPerS.OK && row.OutTokensPerS.OK {
		total = opt.Of(row.InTokensPerS.V + row.OutTokensPerS.V)
	}
	l.Rates = Rates{
		RequestsPerS: number(row.RequestsPerS), OutputPerS: number(row.OutTokensPerS), InputPerS: number(row.InTokensPerS), TotalPerS: number(total),
		RPM: perMinute(row.RequestsPerS), InputTPM: perMinute(row.InTokensPerS), OutputTPM: perMinute(row.OutTokensPerS), TotalTPM: perMinute(total),
		OutputPerSStream: number(row.StreamTokensPerS),
	}
	l.DurationS = number(opt.Of(row.Held.Seconds()))
	l.ConcurrencyMean, l.LittleRatio = number(row.InFlight), number(row.Little)
	l.GoodputPerS, l.GoodShare = number(row.Goodput), share(row.GoodShare)
	return l
}
