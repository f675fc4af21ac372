package headless

import "sonde/probe/measure"

// Lengths are the prompts and the answers of the requests that succeeded, in tokens
// as the server counts. Prompts that nobody counted are in no figure of Input.
type Lengths struct {
	Input  Quantiles `json:"input"`
	Output Quantiles `json:"output"`
}

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
	return Lengths{Input: quantiles(l.input), Output: quantiles(l.output)}
}
