package plan

import (
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// Demand is what a load needs from a service. Every figure is proportional to the
// request rate.
type Demand struct {
	RequestsPerS opt.Float `json:"requests_per_s"`
	RPM          opt.Float `json:"rpm"`
	InputTPM     opt.Float `json:"input_tpm"`
	OutputTPM    opt.Float `json:"output_tpm"`
	TotalTPM     opt.Float `json:"total_tpm"`
	Concurrency  opt.Float `json:"concurrency"`    // requests in flight, mean
	KVTokens     opt.Float `json:"kv_tokens"`      // mean: answers are half written
	KVTokensMost opt.Float `json:"kv_tokens_most"` // all answers at their end at once
	KVBytes      opt.Float `json:"kv_bytes"`       // needs the model
	KVBytesMost  opt.Float `json:"kv_bytes_most"`
}

const perMinute = 60

// demandOf is the Demand of one request per second of that shape. A mean of n
// requests in flight is n = rate × E2E (Little's law). In its time in flight a
// request holds its prompt and, on average, half of its answer.
func demandOf(r Request, model *roofline.Model) Demand {
	mean, most := r.InputTokens+r.OutputTokens/2, r.InputTokens+r.OutputTokens
	d := Demand{
		RequestsPerS: opt.Of(1), RPM: opt.Of(perMinute),
		InputTPM:  opt.Of(perMinute * r.InputTokens),
		OutputTPM: opt.Of(perMinute * r.OutputTokens),
		TotalTPM:  opt.Of(perMinute * most),
		// In flight for E2E seconds at one request per second.
		Concurrency: r.E2ES, KVTokens: r.E2ES.Scale(mean), KVTokensMost: r.E2ES.Scale(most),
	}
	if model != nil {
		d.KVBytes = r.E2ES.Scale(model.KVBytes(mean))
		d.KVBytesMost = r.E2ES.Scale(model.KVBytes(most))
	}
	return d
}

// times is the Demand at so many times the rate. At an unknown rate nothing is
// known.
func (d Demand) times(rate opt.Float) Demand {
	if !rate.OK {
		return Demand{}
	}
	return d.each(d, func(a, _ opt.Float) opt.Float { return a.Scale(rate.V) })
}

// plus is the Demand of both together: unknown where one of them is.
func (d Demand) plus(o Demand) Demand {
	return d.each(o, func(a, b opt.Float) opt.Float {
		if !a.OK || !b.OK {
			return opt.Float{}
		}
		return opt.Of(a.V + b.V)
	})
}

// each combines two Demands figure by figure.
func (d Demand) each(o Demand, with func(a, b opt.Float) opt.Float) Demand {
	return Demand{
		RequestsPerS: with(d.RequestsPerS, o.RequestsPerS), RPM: with(d.RPM, o.RPM),
		InputTPM: with(d.InputTPM, o.InputTPM), OutputTPM: with(d.OutputTPM, o.OutputTPM), TotalTPM: with(d.TotalTPM, o.TotalTPM),
		Concurrency: with(d.Concurrency, o.Concurrency),
		KVTokens:    with(d.KVTokens, o.KVTokens), KVTokensMost: with(d.KVTokensMost, o.KVTokensMost),
		KVBytes: with(d.KVBytes, o.KVBytes), KVBytesMost: with(d.KVBytesMost, o.KVBytesMost),
	}
}
