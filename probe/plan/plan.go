// Package plan is capacity arithmetic: from how often requests come, how long
// they are and how long they take to what they ask of a service, which quota
// they meet first, and how many replicas of a measured one they need. It reads
// no file and writes none.
package plan

import (
	"errors"
	"math"
	"slices"

	"sonde/probe/opt"
	"sonde/probe/roofline"
	"sonde/probe/slo"
)

// Schema names the form of a Plan in files.
const Schema = "sonde/plan/1"

// Ask is what a Plan is wanted for.
type Ask struct {
	Workloads []Workload // at least one
	Headroom  float64    // share on top of the load: 0.5 is half as much again
	Limits    []Limit
	Model     *roofline.Model // for the bytes of the KV cache; nil: unknown
	Sweep     *Sweep          // what one replica was measured to hold; nil: not measured
	SLOs      []slo.Target    // for the levels of Sweep, instead of the service levels of its file
}

// Plan is the outcome. What is unknown is null in JSON.
type Plan struct {
	Schema       string        `json:"schema"`
	Workloads    []Row         `json:"workloads"`
	Total        Row           `json:"total"`
	Headroom     float64       `json:"headroom"`
	WithHeadroom Demand        `json:"with_headroom"`
	Model        *ModelLine    `json:"model"`
	Limits       []LimitResult `json:"limits"`
	Binding      *Binding      `json:"binding"`
	Replicas     *Replicas     `json:"replicas"`
	Notes        []string      `json:"notes"`
}

// Row is a workload, or all of them: its mean request and its Demand.
type Row struct {
	Name string `json:"name"`
	Request
	Demand
}

// ModelLine says what the bytes of the KV cache rest on.
type ModelLine struct {
	Name            string  `json:"name"`
	KVBytesPerToken float64 `json:"kv_bytes_per_token"`
	WindowedLayers  int     `json:"windowed_layers"` // which keep the last Window tokens only
	Window          int     `json:"window"`
}

// Make works a Plan out. An error is about the Ask, in the words of the command
// line.
func Make(a Ask) (Plan, error) {
	p := Plan{Schema: Schema, Workloads: []Row{}, Headroom: a.Headroom, Notes: []string{}}
	if len(a.Workloads) == 0 {
		return p, errors.New("no workload given: sonde plan --qps 4 --input 6k --output 1k --e2e 15s (sonde plan --help)")
	}
	asked := a.Workloads
	if a.Workloads = withMeasured(a); !slices.Equal(asked, a.Workloads) {
		p.Notes = append(p.Notes, "missing lengths and latency are those that the sweep measured")
	}
	perRequest := Demand{}
	for i := range a.Workloads {
		w := &a.Workloads[i]
		if err := w.check(len(a.Workloads) > 1 || len(a.Limits) == 0); err != nil {
			return p, err
		}
		one := demandOf(w.request(), a.Model)
		row := Row{Name: w.name(), Request: w.request(), Demand: one.times(w.rate())}
		p.Workloads = append(p.Workloads, row)
		if i == 0 {
			p.Total.Demand, perRequest = row.Demand, one
			continue
		}
		p.Total.Demand = p.Total.plus(row.Demand)
	}
	p.Total.Name = "total"
	p.Total.Request = meanRequest(p.Workloads)
	if len(a.Workloads) > 1 {
		perRequest = p.Total.times(opt.Of(1 / p.Total.RequestsPerS.V))
	}
	p.WithHeadroom = p.Total.times(opt.Of(1 + a.Headroom))
	return p, p.judge(a, perRequest)
}

// judge sets the load against quotas and measured replicas.
func (p *Plan) judge(a Ask, perRequest Demand) error {
	if m := a.Model; m != nil {
		p.Model = &ModelLine{Name: m.Name, KVBytesPerToken: m.KVBytesPerToken(), WindowedLayers: m.WindowedLayers, Window: m.Window}
	}
	var err error
	if p.Limits, err = judgeLimits(a.Limits, perRequest, p.WithHeadroom); err != nil {
		return err
	}
	p.Binding = bindingOf(p.Limits)
	if a.Sweep != nil {
		if p.Replicas, err = replicasFor(p, a.Sweep, a.SLOs); err != nil {
			return err
		}
	}
	p.note(a)
	return nil
}

// meanRequest is the mean over the requests of all rows: each row counts with
// its rate.
func meanRequest(rows []Row) Request {
	if len(rows) == 1 {
		return rows[0].Request
	}
	var sum Request
	var rates, e2e float64
	known := true
	for _, r := range rows {
		rate := r.RequestsPerS.V
		rates += rate
		sum.InputTokens += rate * r.InputTokens
		sum.OutputTokens += rate * r.OutputTokens
		e2e += rate * r.E2ES.V
		known = known && r.E2ES.OK
	}
	mean := Request{InputTokens: sum.InputTokens / rates, OutputTokens: sum.OutputTokens / rates}
	if known {
		mean.E2ES = opt.Of(e2e / rates)
	}
	return mean
}

// note says what a reader has to know of the figures.
func (p *Plan) note(a Ask) {
	if !p.Total.E2ES.OK {
		p.Notes = append(p.Notes, "requests in flight and their KV cache are unknown without a latency: e2e, or ttft and tpot")
	}
	for _, l := range p.Limits {
		if !l.MaxRPM.OK {
			p.Notes = append(p.Notes, "limit "+l.Limit+" may bind earlier: unknown without a latency")
		}
	}
	for _, w := range a.Workloads {
		if math.Round(w.Users) > 0 {
			p.Notes = append(p.Notes, "users send less often when answers take longer: their rate is users / (E2E + think)")
			break
		}
	}
	if a.Model != nil && a.Model.WindowedLayers > 0 {
		p.Notes = append(p.Notes, "KV bytes count windowed layers up to their window; an engine that keeps all their tokens needs more")
	}
}
