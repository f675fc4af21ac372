package headless

import (
	"sonde/probe/measure"
	"sonde/probe/report"
)

// lengths are the distributions behind Lengths.
type lengths struct {
	input, output *measure.Dist
}

func newLengths() lengths {
	return lengths{input: measure.NewDist(exactSamples), output: measure.NewDist(exactSamples)}
}

// add takes a request that succeeded.
func (l *lengths) add(r *measure.Request) {
	if promptCounted(r) {
		l.input.Add(float64(r.InTokens))
	}
	l.output.Add(float64(r.OutTokens))
}

func (l *lengths) table() Lengths {
	return Lengths{Input: report.QuantilesOf(l.input), Output: report.QuantilesOf(l.output)}
}
