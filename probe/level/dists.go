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
// they showed until then is kept as it was, and what is added later is within 0.1 %.
type dists struct {
	latency measure.Latencies[*measure.Dist]
	tokens  Lengths[*measure.Dist]
	turns   turns
	targets []slo.Target

	summary *summaries     // nil: to be computed anew
	file    *Distributions // nil: to be encoded anew
}

// Lengths are something about the lengths of requests, in tokens: distributions, summaries.
type Lengths[T any] struct {
	Input           T `json:"input"`
	Output          T `json:"output"`
	RequestedInput  T `json:"requested_input"`
	RequestedOutput T `json:"requested_output"`
}

// All are in the order of the fields.
func (l *Lengths[T]) All() [4]*T {
	return [...]*T{&l.Input, &l.Output, &l.RequestedInput, &l.RequestedOutput}
}

// Distributions are those of a level in the form of the files; nil without samples.
type Distributions struct {
	LatencyMS measure.Latencies[*measure.Distribution] `json:"latency_ms"`
	Lengths   Lengths[*measure.Distribution]           `json:"lengths"`
	TurnTTFT  []*measure.Distribution                  `json:"turn_ttft_ms,omitempty"` // by turn of the conversations
}

type summaries struct {
	latencies measure.Latencies[measure.Summary]
	tokens    Lengths[measure.Summary]
	turns     []Turn
	actual    []opt.Float // by target: the figure that it is about
}

func newDists(targets []slo.Target) dists {
	d := dists{targets: targets}
	for _, m := range d.latency.All() {
		*m = measure.NewDist(exactSamples)
	}
	for _, m := range d.tokens.All() {
		*m = measure.NewTokenDist(exactSamples)
	}
	return d
}

// add takes a request that counts.
func (d *dists) add(r *measure.Request) {
	if r.Class != measure.OK {
		return
	}
	d.summary, d.file = nil, nil
	if promptCounted(r) {
		d.tokens.Input.Add(float64(r.InTokens))
	}
	if r.RequestedIn > 0 {
		d.tokens.RequestedInput.Add(float64(r.RequestedIn))
	}
	d.tokens.Output.Add(float64(r.OutTokens))
	d.tokens.RequestedOutput.Add(float64(r.RequestedOut))
	r.Observe(&d.latency)
	d.turns.add(r)
}

func (d *dists) summaries() *summaries {
	if d.summary != nil {
		return d.summary
	}
	s := &summaries{turns: d.turns.list()}
	counted := d.tokens.All()
	for i, into := range s.tokens.All() {
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
	d.turns.compact()
	for _, m := range d.latency.All() {
		(*m).Compact()
	}
	for _, m := range d.tokens.All() {
		(*m).Compact()
	}
}

// distributions takes milliseconds while the level goes on.
func (d *dists) distributions() *Distributions {
	if d.file != nil {
		return d.file
	}
	out := &Distributions{}
	latencies, tokens := d.latency.All(), d.tokens.All()
	for i, into := range out.LatencyMS.All() {
		*into = (*latencies[i]).Distribution()
	}
	for i, into := range out.Lengths.All() {
		*into = (*tokens[i]).Distribution()
	}
	for i := range d.turns.rows {
		out.TurnTTFT = append(out.TurnTTFT, d.turns.rows[i].ttft.Distribution())
	}
	d.file = out
	return out
}
