package headless

import (
	"sonde/probe/measure"
)

// exactSamples is how many samples of one metric stay exact; beyond it quantiles
// are within 0.1 %. It bounds the memory of a long run: 160 kB per metric.
const exactSamples = 20_000

// latencyTable gives all distributions in the form of the Summary.
func latencyTable(l *measure.Latencies) Latencies {
	return Latencies{
		TTFT: quantiles(l.TTFT), TTFA: quantiles(l.TTFA), TPOT: quantiles(l.TPOT), Gap: quantiles(l.Gap),
		E2E: quantiles(l.E2E), Setup: quantiles(l.Setup), ClientQueue: quantiles(l.ClientQueue),
		FromSchedule: quantiles(l.FromSchedule),
	}
}

func quantiles(d *measure.Dist) Quantiles {
	s := d.Summary()
	of := func(v float64) Number { return number(s.Value(v)) }
	std, _ := d.Std()
	return Quantiles{
		N: s.N, Mean: of(s.Mean), Min: of(s.Min), P50: of(s.P50), P90: of(s.P90), P95: of(s.P95),
		P99: of(s.P99), P999: of(s.P999), Max: of(s.Max), Weak: s.Weak(), Std: of(std),
	}
}
