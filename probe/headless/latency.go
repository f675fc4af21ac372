package headless

import (
	"sonde/probe/measure"
	"sonde/probe/report"
)

// exactSamples is how many samples of one metric stay exact; beyond it quantiles
// are within 0.1 %. It bounds the memory of a long run: 160 kB per metric.
const exactSamples = 20_000

// latencyTable gives all distributions in the form of the Summary.
func latencyTable(l *measure.Latencies) Latencies {
	return Latencies{
		TTFT: report.QuantilesOf(l.TTFT), TTFA: report.QuantilesOf(l.TTFA), TPOT: report.QuantilesOf(l.TPOT), Gap: report.QuantilesOf(l.Gap),
		E2E: report.QuantilesOf(l.E2E), Setup: report.QuantilesOf(l.Setup), ClientQueue: report.QuantilesOf(l.ClientQueue),
		FromSchedule: report.QuantilesOf(l.FromSchedule),
	}
}
