package compare

import (
	"slices"

	"sonde/probe/opt"
	"sonde/probe/report"
)

// capacityFigure is a conclusion of a sweep.
type capacityFigure struct {
	figure
	from func(*Run) opt.Float
}

// capacities are what a sweep concludes. Ladders have steps: a knee moves by whole ones.
var capacities = []capacityFigure{
	{figure{name: "knee", title: "knee", kind: rate, good: up}, func(r *Run) opt.Float {
		if r.Knee == nil {
			return opt.Float{}
		}
		return amount(r.Knee.Mark)
	}},
	{figure{name: "knee_output_tokens_per_s", title: "output tok/s at the knee", kind: rate, good: up}, func(r *Run) opt.Float {
		if r.Knee == nil || r.At(r.Knee.Mark) == nil {
			return opt.Float{}
		}
		return r.At(r.Knee.Mark).Rates.OutputPerS
	}},
	{figure{name: "best", title: "largest load within the SLOs", kind: rate, good: up}, func(r *Run) opt.Float {
		if r.Best == nil {
			return opt.Float{}
		}
		return amount(r.Best.Mark)
	}},
	{figure{name: "best_output_tokens_per_s", title: "output tok/s within the SLOs", kind: rate, good: up}, func(r *Run) opt.Float {
		if r.Best == nil {
			return opt.Float{}
		}
		return r.Best.OutputPerS
	}},
}

// amount is streams, or requests per second.
func amount(m report.Mark) opt.Float { return opt.Of(m.Rate.Or(float64(m.Concurrency))) }

// capacity compares what sweeps conclude, as far as any does.
func capacity(a Ask) []Figure {
	out := []Figure{}
	for i := range capacities {
		f := &capacities[i]
		if g := newFigure(&f.figure, a, func(r *Run) reading { return reading{Float: f.from(r)} }); g.Before.Known+g.After.Known > 0 {
			out = append(out, g)
		}
	}
	return out
}

// comparedNamed is the figure of that name, of a load or of a sweep; nil if there is none.
func comparedNamed(name string) *figure {
	if f := figureNamed(name); f != nil {
		return f
	}
	if i := slices.IndexFunc(capacities, func(f capacityFigure) bool { return f.name == name }); i >= 0 {
		return &capacities[i].figure
	}
	return nil
}
