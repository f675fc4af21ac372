package report

import (
	"fmt"

	"sonde/probe/opt"
	"sonde/probe/report/page"
)

// MergedClient is what one of the clients behind a merged Summary did.
type MergedClient struct {
	Name         string  `json:"name"`
	URL          Text    `json:"url"`
	Started      Instant `json:"started"`
	DurationS    Number  `json:"duration_s"`
	Seed         uint64  `json:"seed"`
	Load         Mark    `json:"load"`
	OK           int     `json:"ok"`
	Failed       int     `json:"failed"`
	RequestsPerS Number  `json:"requests_per_s"`
	OutputPerS   Number  `json:"output_tokens_per_s"`
	TTFTP95      Number  `json:"ttft_p95_ms"`
	ClientFigures
}

// ClientOf is the part of one client.
func ClientOf(name string, s *Summary) MergedClient {
	return MergedClient{
		Name: name, URL: s.Target.URL, Started: s.Started, DurationS: s.DurationS, Seed: s.Seed, Load: s.Load.Mark, OK: s.Requests.OK, Failed: s.Requests.Failed,
		RequestsPerS: s.Rates.RequestsPerS, OutputPerS: s.Rates.OutputPerS, TTFTP95: s.LatencyMS.TTFT.P95, ClientFigures: s.Client,
	}
}

// seed writes the seed; merged runs have several.
func (r *Run) seed() string { return iff(r.Seed != 0, " · seed %d", r.Seed) }

// Is reports whether both are the same run.
func (r *Run) Is(o *Run) bool {
	return !r.Started.IsZero() && r.Started.Equal(o.Started.Time) && r.Seed == o.Seed && r.DurationS == o.DurationS
}

// SLOTexts are the SLOs as they were given.
func (s *Summary) SLOTexts() []string {
	var out []string
	for i := range s.SLO {
		out = append(out, s.SLO[i].SLO)
	}
	return out
}

// GPUMean is the mean of a figure over the GPUs that report it.
func (s *Summary) GPUMean(of func(*GPUFigures) Number) Number {
	sum, n := 0.0, 0.0
	for i := range s.GPUs {
		if v := of(&s.GPUs[i]); v.OK {
			sum, n = sum+v.V, n+1
		}
	}
	return RoundedShare(opt.Of(sum / n)) // unknown where n is 0
}

// AverageGPUs takes the means over the GPUs anew, where those have changed.
func (s *Summary) AverageGPUs() {
	s.sm, s.dram = s.GPUMean(func(g *GPUFigures) Number { return g.SMMean }), s.GPUMean(func(g *GPUFigures) Number { return g.DRAMMean })
}

// clientSection has a row for each client of a merged Summary.
func clientSection(clients []MergedClient) page.Section {
	if len(clients) == 0 {
		return page.Section{}
	}
	var rows [][]string
	for i := range clients {
		c := &clients[i]
		limited := ""
		if c.Bottleneck {
			limited = "BOTTLENECK"
		}
		rows = append(rows, []string{
			c.Name, fmt.Sprint(c.OK), fmt.Sprint(c.Failed), figure(c.RequestsPerS), figure(c.OutputPerS), figure(c.TTFTP95), figure(c.LateMSP99), percent(c.CPU), limited,
		})
	}
	return page.Table("clients", []string{"ok", "failed", "req/s", "tok/s", "TTFT p95", "late p99", "CPU", ""}, rows...)
}
