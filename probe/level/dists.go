package level

import (
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

// exactSamples is how many samples of one metric stay exact; beyond it quantiles are within
// 0.1 %. It bounds the memory of a long run: 160 kB per metric.
const exactSamples = 20_000

// dists are the distributions of one level. Once the level is left they are compacted: what
// they showed until then is kept as it was, and what is added later is within 1 %.
type dists struct {
	latency       measure.Latencies
	input, output *measure.Dist // tokens
	targets       []slo.Target

	summary *summaries // nil: to be computed anew
}

type summaries struct {
	latencies     Latencies
	input, output Dist
	actual        []opt.Float // by target: the figure that it is about
}

func newDists(targets []slo.Target) dists {
	return dists{
		targets: targets, latency: measure.NewLatencies(exactSamples),
		input: measure.NewDist(exactSamples), output: measure.NewDist(exactSamples),
	}
}

// add takes a request that counts.
func (d *dists) add(r *measure.Request) {
	if r.Class != measure.OK {
		return
	}
	d.summary = nil
	if promptCounted(r) {
		d.input.Add(float64(r.InTokens))
	}
	d.output.Add(float64(r.OutTokens))
	d.latency.Add(r)
}

func (d *dists) summaries() *summaries {
	if d.summary == nil {
		l := &d.latency
		d.summary = &summaries{input: describe(d.input), output: describe(d.output), latencies: Latencies{
			TTFT: describe(l.TTFT), TTFA: describe(l.TTFA), TPOT: describe(l.TPOT), Gap: describe(l.Gap), E2E: describe(l.E2E),
			Setup: describe(l.Setup), ClientQueue: describe(l.ClientQueue), FromSchedule: describe(l.FromSchedule),
		}}
		for i := range d.targets {
			d.summary.actual = append(d.summary.actual, d.quantile(&d.targets[i]))
		}
	}
	return d.summary
}

func describe(d *measure.Dist) Dist {
	std, _ := d.Std()
	return Dist{Summary: d.Summary(), Std: std}
}

func (d *dists) quantile(target *slo.Target) opt.Float {
	of := d.latency.Of(target.Metric)
	if of == nil {
		return opt.Float{}
	}
	if ms, ok := of.Quantile(target.Quantile); ok {
		return opt.Of(ms)
	}
	return opt.Float{}
}

// compact lets go of the memory that a level needs only while it goes on.
func (d *dists) compact() {
	d.summaries()
	l := &d.latency
	for _, m := range []*measure.Dist{
		l.TTFT, l.TTFA, l.TPOT, l.Gap, l.E2E, l.Setup, l.ClientQueue, l.FromSchedule, d.input, d.output,
	} {
		m.Compact()
	}
}
