package plan

import (
	"fmt"
	"math"

	"sonde/probe/opt"
	"sonde/probe/plain"
	"sonde/probe/report"
	"sonde/probe/slo"
)

// Replicas is how many of the measured service the load needs, with the
// arithmetic: the largest ratio of Steps, rounded up.
type Replicas struct {
	Needed *int           `json:"needed"` // nil: unknown, for Why
	Why    string         `json:"why,omitempty"`
	Level  *MeasuredLevel `json:"level"` // that each replica may run at
	Steps  []Step         `json:"steps"`
	Share  opt.Float      `json:"share"` // of what the replicas hold, in use with the headroom
}

// MeasuredLevel is the level of the sweep that counts.
type MeasuredLevel struct {
	Load         string    `json:"load"`
	Chosen       string    `json:"chosen"` // why it is this one
	RequestsPerS opt.Float `json:"requests_per_s"`
	Concurrency  opt.Float `json:"concurrency_mean"`
	InputTokens  opt.Float `json:"input_tokens_mean"`
	OutputTokens opt.Float `json:"output_tokens_mean"`
	E2EMS        opt.Float `json:"e2e_ms_mean"`
}

// Step is one division: what is asked, with the headroom, by what a replica did.
type Step struct {
	Of         string    `json:"of"` // a rate of the Summary
	Asked      opt.Float `json:"asked"`
	PerReplica opt.Float `json:"per_replica"`
	Ratio      opt.Float `json:"ratio"`
}

// sameLength is how much lengths may differ before requests are no longer a
// measure of the work.
const sameLength = 0.1

// replicasFor divides the load by what one replica was measured to hold.
func replicasFor(p *Plan, s *Sweep, slos []slo.Target) (*Replicas, error) {
	level, chosen, err := s.chosen(slos)
	if err != nil {
		return nil, err
	}
	r := &Replicas{Steps: []Step{}}
	if level == nil {
		r.Why = "no level of the sweep is within the SLO"
		return r, nil
	}
	in, out := lengths(level)
	r.Level = &MeasuredLevel{
		Load: loadName(level), Chosen: chosen, RequestsPerS: level.Rates.RequestsPerS, Concurrency: level.ConcurrencyMean,
		InputTokens: in, OutputTokens: out, E2EMS: level.LatencyMS.E2E.Mean,
	}
	if len(slos) == 0 && s.Best != nil && s.Best.Says != "" {
		p.Notes = append(p.Notes, "the sweep: "+plain.Line(s.Best.Says, 400))
	}
	asked := p.WithHeadroom
	r.step("requests_per_s", asked.RequestsPerS, level.Rates.RequestsPerS)
	if !near(p.Total.InputTokens, in) || !near(p.Total.OutputTokens, out) {
		r.step("input_tokens_per_s", asked.InputTPM.Scale(1.0/perMinute), level.Rates.InputPerS)
		r.step("output_tokens_per_s", asked.OutputTPM.Scale(1.0/perMinute), level.Rates.OutputPerS)
		p.Notes = append(p.Notes, fmt.Sprintf("the sweep had %s input and %s output tokens per request, the plan has %s and %s: "+
			"replicas follow the scarcest rate and latencies will differ; a sweep with these lengths is more accurate",
			figure(in), figure(out), figure(opt.Of(p.Total.InputTokens)), figure(opt.Of(p.Total.OutputTokens))))
	}
	r.round()
	return r, nil
}

// loadName is the load of a level: "concurrency 8", "rate 2.5".
func loadName(l *report.Level) string {
	if l.Load.Rate.OK {
		return fmt.Sprintf("rate %g", l.Load.Rate.V)
	}
	return fmt.Sprintf("concurrency %d", l.Load.Concurrency)
}

// near reports whether a length is the measured one, as far as that is known.
func near(asked float64, measured opt.Float) bool {
	return measured.OK && math.Abs(asked-measured.V) <= sameLength*measured.V
}

func (r *Replicas) step(of string, asked, each opt.Float) {
	s := Step{Of: of, Asked: asked, PerReplica: each}
	if asked.OK && each.OK && each.V > 0 {
		s.Ratio = opt.Of(asked.V / each.V)
	}
	r.Steps = append(r.Steps, s)
}

// mostReplicas bounds what is still a number of replicas.
const mostReplicas = 1_000_000_000

// round takes the largest ratio up to a whole number. A ratio that is whole but
// for the last digits of the arithmetic is taken for whole.
func (r *Replicas) round() {
	most := opt.Float{}
	for _, s := range r.Steps {
		if s.Ratio.OK && s.Ratio.V > most.V {
			most = s.Ratio
		}
	}
	if !most.OK || most.V > mostReplicas {
		r.Why = "the request rate is missing"
		if most.OK {
			r.Why = "the load is too large"
		}
		return
	}
	n := max(1, int(math.Ceil(most.V*(1-1e-9))))
	r.Needed = &n
	r.Share = opt.Of(most.V / float64(n))
}

// withMeasured fills in what the Ask leaves open and the sweep knows: the lengths,
// and for the same lengths the latency.
func withMeasured(a Ask) []Workload {
	if a.Sweep == nil {
		return a.Workloads
	}
	level, _, err := a.Sweep.chosen(a.SLOs)
	if err != nil || level == nil {
		level = &a.Sweep.Levels[0]
	}
	in, out := lengths(level)
	filled := make([]Workload, len(a.Workloads))
	for i, w := range a.Workloads {
		if w.Input == 0 {
			w.Input = in.V
		}
		if w.Output == 0 {
			w.Output = out.V
		}
		if e2e := level.LatencyMS.E2E.Mean; w.E2ES+w.TTFTS+w.TPOTS == 0 && e2e.OK && near(w.Input, in) && near(w.Output, out) {
			w.E2ES = e2e.V / 1000
		}
		filled[i] = w
	}
	return filled
}
