package report

import (
	"fmt"
	"math"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/report/page"
	"sonde/probe/sweep"
	"sonde/probe/units"
)

// Capacity names the level that the conclusion of a sweep is read from, and why it is
// that one.
type Capacity struct {
	Basis string `json:"basis"` // "best_within_slo", "knee" or "largest_settled"
	Mark
}

// Reasons to read the capacity from a level.
const (
	basisSLO     = "best_within_slo"
	basisKnee    = "knee"
	basisLargest = "largest_settled" // there is neither an SLO nor a knee
	basisNone    = ""                // no load meets the SLOs: the smallest, to see why
)

// conclusive is the level that capacity is read from; nil if there is none.
func (s *SweepSummary) conclusive() (l *Level, basis string) {
	switch {
	case s.Best != nil:
		return s.At(s.Best.Mark), basisSLO
	case s.Knee != nil && len(s.SLO) == 0:
		return s.At(s.Knee.Mark), basisKnee
	case len(s.SLO) > 0 && len(s.Levels) > 0:
		return &s.Levels[0], basisNone
	}
	for i := range s.Levels {
		if s.Levels[i].Settled {
			l = &s.Levels[i]
		}
	}
	return l, basisLargest
}

// capacity is that level in the form of the file.
func (s *SweepSummary) capacity() *Capacity {
	l, basis := s.conclusive()
	if l == nil || basis == basisNone {
		return nil
	}
	return &Capacity{Basis: basis, Mark: l.Load.Mark}
}

// conclusion says in sentences what the service holds.
func (s *SweepSummary) conclusion() []string {
	l, basis := s.conclusive()
	if l == nil {
		return []string{s.Target.subject() + ": no level has settled, so its capacity is unknown."}
	}
	load := sweep.Describe(l.Requested)
	var holds string
	switch basis {
	case basisSLO:
		holds = fmt.Sprintf("holds **%s** within the SLOs (%s; %s, confidence %s)", load, page.Escape(strings.Join(s.SLO, ", ")),
			string(s.Best.Verdict), percent(s.Best.Confidence))
	case basisKnee:
		holds = fmt.Sprintf("gains from more load up to **%s**, the knee of its curve (no SLO was given)", load)
	case basisNone:
		holds = fmt.Sprintf("**misses its SLOs (%s) at every load that was measured**; at the smallest, %s, it delivers", page.Escape(strings.Join(s.SLO, ", ")), load)
	default:
		holds = fmt.Sprintf("was tested up to **%s**; with neither a knee nor an SLO, its limit is unknown", load)
	}
	out := []string{s.Target.subject() + " " + holds + ": " + l.throughput() + ".", "There " + l.latencySentence() + "."}
	out = append(out, l.Client.doubt()...)
	if s.Knee != nil {
		out = append(out, capital(page.Escape(s.Knee.Says))+".")
	}
	return out
}

// conclusion says in sentences what was measured at the one load.
func (s *Summary) conclusion() []string {
	what := fmt.Sprintf("**%s**", s.Load.describe())
	if s.Requests.OK == 0 {
		return []string{fmt.Sprintf("%s at %s: no request succeeded.", s.Target.subject(), what)}
	}
	out := []string{
		s.Target.subject() + " at " + what + ": " + s.throughput() + ".",
		capital(s.latencySentence()) + ".",
	}
	var met, missed, open []string
	for _, r := range s.SLO {
		switch {
		case r.Met == nil:
			open = append(open, page.Escape(r.SLO))
		case *r.Met:
			met = append(met, page.Escape(r.SLO))
		default:
			missed = append(missed, page.Escape(r.SLO))
		}
	}
	for _, part := range []struct {
		result string
		slos   []string
	}{{"missed", missed}, {"met", met}, {"unknown (too few samples)", open}} {
		if len(part.slos) > 0 {
			out = append(out, fmt.Sprintf("SLOs %s: %s.", part.result, strings.Join(part.slos, ", ")))
		}
	}
	out = append(out, s.Client.doubt()...)
	return append(out, "This is one load: it does not say how much more the service can hold (`sonde sweep` does).")
}

// doubt warns of figures that are about the client.
func (c *ClientFigures) doubt() []string {
	if !c.Bottleneck {
		return nil
	}
	return []string{"**The client was the bottleneck here: the service may do better than these figures.**"}
}

// throughput is a rate of requests and tokens in words.
func (s *Summary) throughput() string {
	r := &s.Rates
	return fmt.Sprintf("%s requests/s (%s RPM); %s input, %s output, %s total tokens/min; %s in flight",
		figure(r.RequestsPerS), compact(r.RPM), compact(r.InputTPM), compact(r.OutputTPM), compact(r.TotalTPM), figure(s.ConcurrencyMean))
}

// latencySentence is the latency in words.
func (s *Summary) latencySentence() string {
	l := &s.LatencyMS
	parts := []string{}
	for _, m := range []struct {
		name string
		q    *Quantiles
	}{{"TTFT", &l.TTFT}, {"TPOT", &l.TPOT}, {"E2E", &l.E2E}} {
		parts = append(parts, fmt.Sprintf("%s is %s ms", m.name, three(m.q)))
	}
	failed := fmt.Sprintf("%d of %d requests failed", s.Requests.Failed, s.Requests.OK+s.Requests.Failed)
	return strings.Join(parts, ", ") + " (p50 / p95 / p99), and " + failed
}

// three are the percentiles that capacity is judged by.
func three(q *Quantiles) string {
	if q.N == 0 {
		return units.Unknown
	}
	return q.at("p50") + " / " + q.at("p95") + " / " + q.at("p99")
}

// compact writes large numbers with a unit: 1.44 M, 24.0 k.
func compact(f opt.Float) string {
	switch size := math.Abs(f.V); {
	case f.OK && size >= 999_500:
		return figure(f.Scale(1e-6)) + " M"
	case f.OK && size >= 9_995:
		return figure(f.Scale(1e-3)) + " k"
	}
	return figure(f)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
