package report

import (
	"fmt"

	"sonde/probe/report/page"
)

// MergedClient is what one of the clients behind a merged Summary did.
type MergedClient struct {
	Name         string  `json:"name"`
	URL          Text    `json:"url"`
	Started      Instant `json:"started"`
	DurationS    Number  `json:"duration_s"`
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
		Name: name, URL: s.Target.URL, Started: s.Started, DurationS: s.DurationS, Load: s.Load.Mark, OK: s.Requests.OK, Failed: s.Requests.Failed,
		RequestsPerS: s.Rates.RequestsPerS, OutputPerS: s.Rates.OutputPerS, TTFTP95: s.LatencyMS.TTFT.P95, ClientFigures: s.Client,
	}
}

// AverageGPUs takes the means over the GPUs anew, where those have changed.
func (s *Summary) AverageGPUs() {
	mean := func(of func(*GPUFigures) Number) Number {
		sum, n := 0.0, 0.0
		for i := range s.GPUs {
			if v := of(&s.GPUs[i]); v.OK {
				sum, n = sum+v.V, n+1
			}
		}
		return RoundedShare(Number{V: sum / max(n, 1), OK: n > 0})
	}
	s.sm, s.dram = mean(func(g *GPUFigures) Number { return g.SMMean }), mean(func(g *GPUFigures) Number { return g.DRAMMean })
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
