package sweep

import "sonde/probe/measure"

// latencies are the distributions of requests that succeeded, in milliseconds.
type latencies struct {
	ttft, ttfa, tpot, gap, e2e, setup, queue, schedule *measure.Dist
}

func newLatencies() latencies {
	dist := func() *measure.Dist { return measure.NewDist(exactSamples) }
	return latencies{
		ttft: dist(), ttfa: dist(), tpot: dist(), gap: dist(), e2e: dist(), setup: dist(), queue: dist(), schedule: dist(),
	}
}

func (l *latencies) add(r *measure.Request) {
	for _, m := range []struct {
		into  *measure.Dist
		value func() (float64, bool)
	}{{l.ttft, r.TTFT}, {l.ttfa, r.TTFA}, {l.tpot, r.TPOT}, {l.e2e, r.E2E}, {l.schedule, r.FromSchedule}} {
		if ms, ok := m.value(); ok {
			m.into.Add(ms)
		}
	}
	l.setup.Add(r.Setup.Seconds() * 1000)
	l.queue.Add(r.ClientQueue())
	if r.Streamed {
		for _, ms := range r.GapsMS {
			l.gap.Add(float64(ms))
		}
	}
}

func (l *latencies) merge(o *latencies) {
	for _, m := range [][2]*measure.Dist{
		{l.ttft, o.ttft}, {l.ttfa, o.ttfa}, {l.tpot, o.tpot}, {l.gap, o.gap}, {l.e2e, o.e2e},
		{l.setup, o.setup}, {l.queue, o.queue}, {l.schedule, o.schedule},
	} {
		m[0].Merge(m[1])
	}
}

// of gives the distribution of a metric by its name in an SLO; an empty one if
// there is none.
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
	return measure.NewDist(0)
}
