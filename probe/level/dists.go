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
	latency measure.Latencies[*measure.Dist]
	tokens  lengths[*measure.Dist]
	targets []slo.Target

	summary *summaries // nil: to be computed anew
}

// lengths are something about the lengths of requests, in tokens: distributions, summaries.
type lengths[T any] struct{ input, output, requestedInput, requestedOutput T }

func (l *lengths[T]) all() [4]*T {
	return [...]*T{&l.input, &l.output, &l.requestedInput, &l.requestedOutput}
}

type summaries struct {
	latencies measure.Latencies[measure.Summary]
	tokens    lengths[measure.Summary]
	actual    []opt.Float // by target: the figure that it is about
}

func newDists(targets []slo.Target) dists {
	d := dists{targets: targets}
	for _, m := range d.all() {
		*m = measure.NewDist(exactSamples)
	}
	return d
}

func (d *dists) all() []**measure.Dist {
	latencies, tokens := d.latency.All(), d.tokens.all()
	return append(latencies[:], tokens[:]...)
}

// add takes a request that counts.
func (d *dists) add(r *measure.Request) {
	if r.Class != measure.OK {
		return
	}
	d.summary = nil
	if promptCounted(r) {
		d.tokens.input.Add(float64(r.InTokens))
	}
	if r.RequestedIn > 0 {
		d.tokens.requestedInput.Add(float64(r.RequestedIn))
	}
	d.tokens.output.Add(float64(r.OutTokens))
	d.tokens.requestedOutput.Add(float64(r.RequestedOut))
	r.Observe(&d.latency)
}

func (d *dists) summaries() *summaries {
	if d.summary != nil {
		return d.summary
	}
	s := &summaries{}
	counted := d.tokens.all()
	for i, into := range s.tokens.all() {
		*into = (*counted[i]).Summary()
	}
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
	for _, m := range d.all() {
		(*m).Compact()
	}
}
