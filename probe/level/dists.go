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
	latency       measure.Latencies[*measure.Dist]
	input, output *measure.Dist // tokens
	targets       []slo.Target

	summary *summaries // nil: to be computed anew
}

type summaries struct {
	latencies     measure.Latencies[measure.Summary]
	input, output measure.Summary
	actual        []opt.Float // by target: the figure that it is about
}

func newDists(targets []slo.Target) dists {
	d := dists{targets: targets, input: measure.NewDist(exactSamples), output: measure.NewDist(exactSamples)}
	for _, m := range d.latency.All() {
		*m = measure.NewDist(exactSamples)
	}
	return d
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
	r.Observe(&d.latency)
}

func (d *dists) summaries() *summaries {
	if d.summary != nil {
		return d.summary
	}
	s := &summaries{input: d.input.Summary(), output: d.output.Summary()}
	all := d.latency.All()
	for i, into := range s.latencies.All() {
		*into = (*all[i]).Summary()
	}
	for _, t := range d.targets {
		var actual opt.Float
		if i := measure.MetricNamed(t.Metric); i >= 0 {
			actual.V, actual.OK = (*all[i]).Quantile(t.Quantile)
		}
		s.actual = append(s.actual, actual)
	}
	d.summary = s
	return s
}

// compact lets go of the memory that a level needs only while it goes on.
func (d *dists) compact() {
	d.summaries()
	for _, m := range d.latency.All() {
		(*m).Compact()
	}
	d.input.Compact()
	d.output.Compact()
}
