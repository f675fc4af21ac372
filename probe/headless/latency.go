package headless

import (
	"sonde/probe/measure"
)

// exactSamples is how many samples of one metric stay exact; beyond it quantiles
// are within 0.1 %. It bounds the memory of a long run: 160 kB per metric.
const exactSamples = 20_000

// latencies are the distributions of successful requests.
type latencies struct {
	ttft, ttfa, tpot, gap, e2e, setup, queue, schedule *measure.Dist
}

func newLatencies() latencies {
	dist := func() *measure.Dist { return measure.NewDist(exactSamples) }
	return latencies{
		ttft: dist(), ttfa: dist(), tpot: dist(), gap: dist(), e2e: dist(),
		setup: dist(), queue: dist(), schedule: dist(),
	}
}

// add takes a request; failures and requests during which our own process was
// stopped give no sample.
func (l *latencies) add(r *measure.Request) {
	if r.Class != measure.OK || r.Excluded {
		return
	}
	addIf(l.ttft, r.TTFT)
	addIf(l.ttfa, r.TTFA)
	addIf(l.tpot, r.TPOT)
	addIf(l.e2e, r.E2E)
	addIf(l.schedule, r.FromSchedule)
	l.queue.Add(r.ClientQueue())
	l.setup.Add(ms(r.Setup))
	if r.Streamed {
		for _, gap := range r.GapsMS {
			l.gap.Add(float64(gap))
		}
	}
}

func addIf(d *measure.Dist, value func() (float64, bool)) {
	if v, ok := value(); ok {
		d.Add(v)
	}
}

// of gives the distribution of a metric by its name in an SLO; nil if there is
// none.
func (l *latencies) of(metric string) *measure.Dist {
	switch metric {
	case "ttft":
		return l.ttft
	case "ttfa":
		return l.ttfa
	case "tpot":
		return l.tpot
	case "gap":
		return l.gap
	case "e2e":
		return l.e2e
	case "setup":
		return l.setup
	case "client_queue":
		return l.queue
	case "from_schedule":
		return l.schedule
	}
	return nil
}

// table gives all distributions in the form of the Summary.
func (l *latencies) table() Latencies {
	return Latencies{
		TTFT: quantiles(l.ttft), TTFA: quantiles(l.ttfa), TPOT: quantiles(l.tpot), Gap: quantiles(l.gap),
		E2E: quantiles(l.e2e), Setup: quantiles(l.setup), ClientQueue: quantiles(l.queue),
		FromSchedule: quantiles(l.schedule),
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
