package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/level"
	"sonde/probe/measure"
)

// File is what a file of results holds. The Summary of one load is a sweep of that level.
type File struct {
	SweepSummary
	Single bool // a Summary: nothing points at a level
}

// ReadFile reads what `sonde bench` and `sonde sweep` write as JSON.
func ReadFile(raw []byte) (*File, error) {
	var form struct {
		Schema string          `json:"schema"`
		Levels json.RawMessage `json:"levels"`
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, errors.New("not a JSON file from sonde bench or sonde sweep (--format json)")
	}
	if form.Schema != Schema {
		return nil, fmt.Errorf("not a file from sonde bench or sonde sweep: its schema must be %q", Schema)
	}
	f := &File{Single: form.Levels == nil}
	var err error
	if f.Single {
		f.Levels = []Level{{Settled: true}} // it has no other level to settle from
		l := &f.Levels[0]
		err = json.Unmarshal(raw, l)
		f.Run = l.Run
	} else {
		err = json.Unmarshal(raw, &f.SweepSummary)
	}
	if err != nil {
		return nil, fmt.Errorf("damaged file from sonde bench or sonde sweep: %w", err)
	}
	return f, nil
}

// AllLevels are the levels of the file as they were measured, as far as the file has their
// figures.
func (f *File) AllLevels() []level.Level {
	var out []level.Level
	for _, l := range slices.Concat(f.Levels, f.Others) {
		out = append(out, l.measured())
	}
	return out
}

func (l *Level) measured() level.Level {
	m := level.Level{
		Load: l.Load.requested(), Settled: l.Settled, Visits: max(1, l.Visits), Counts: l.Requests, Errors: l.Errors,
		Rates: level.Rates{
			RequestsPerS: l.Rates.RequestsPerS, OutTokensPerS: l.Rates.OutputPerS, InTokensPerS: l.Rates.InputPerS,
			StreamTokensPerS: l.Rates.OutputPerSStream, SlowestPerS: l.SlowestPerS, FastestPerS: l.FastestPerS,
		},
		InFlight: l.ConcurrencyMean, Little: l.LittleRatio, GoodShare: l.GoodShare, Goodput: l.GoodputPerS,
		InputLengths: l.Lengths.Input.summary(), OutputLengths: l.Lengths.Output.summary(),
		Engine: level.Engine{
			Running: l.Engine.RunningMean, WaitingMax: l.Engine.WaitingMax, KV: l.Engine.KVFillMean, KVMax: l.Engine.KVFillMax,
			Preemptions: l.Engine.Preemptions, PrefixHitRate: l.Engine.PrefixHitRate, OutTokensPerS: l.Engine.OutputPerS,
		},
	}
	m.TTFT, m.TPOT, m.Gap, m.E2E = l.LatencyMS.TTFT.summary(), l.LatencyMS.TPOT.summary(), l.LatencyMS.Gap.summary(), l.LatencyMS.E2E.summary()
	m.SM, m.DRAM = l.GPUMean(func(g *GPUFigures) Number { return g.SMMean }), l.GPUMean(func(g *GPUFigures) Number { return g.DRAMMean })
	return m
}

// requested is the load that was asked for. Arrivals and lengths that a later version writes in
// another way are left out.
func (l *Load) requested() frame.Load {
	r := frame.Load{
		Concurrency: l.Concurrency, Rate: l.Rate.Or(0), InputTokens: int(l.InputTokens.Or(0)), OutputTokens: l.OutputTokens,
		Turns: l.Turns, Think: time.Duration(l.ThinkS.Or(0) * float64(time.Second)), Prefix: string(l.Prefix),
	}
	if p, err := arrivals.Parse(string(l.Arrivals)); err == nil {
		r.Arrivals = p
	}
	if in, err := length.Parse(string(l.InputSpread)); err == nil {
		r.InputShape = in.Shape
	}
	if out, err := length.Parse(string(l.OutputSpread)); err == nil {
		r.OutputShape = out.Shape
	}
	return r
}

// summary has NaN, which opt.Of takes for unknown, where the file has no figure.
func (q *Quantiles) summary() measure.Summary {
	nan := math.NaN()
	return measure.Summary{
		N: q.N, Mean: q.Mean.Or(nan), Min: q.Min.Or(nan), P50: q.P50.Or(nan), P90: q.P90.Or(nan), P95: q.P95.Or(nan),
		P99: q.P99.Or(nan), P999: q.P999.Or(nan), Max: q.Max.Or(nan), Std: q.Std.Or(0),
	}
}
