package measure

// Latencies are the distributions of the latencies of requests, in milliseconds.
type Latencies struct {
	TTFT, TTFA, TPOT, Gap, E2E, Setup, ClientQueue, FromSchedule *Dist
}

// NewLatencies makes empty ones that keep that many samples of each exactly.
func NewLatencies(exact int) Latencies {
	dist := func() *Dist { return NewDist(exact) }
	return Latencies{
		TTFT: dist(), TTFA: dist(), TPOT: dist(), Gap: dist(), E2E: dist(),
		Setup: dist(), ClientQueue: dist(), FromSchedule: dist(),
	}
}

// Add takes a request; failures and requests during which our own process was
// stopped give no sample.
func (l *Latencies) Add(r *Request) {
	if r.Class != OK || r.Excluded {
		return
	}
	for _, m := range []struct {
		into  *Dist
		value func() (float64, bool)
	}{{l.TTFT, r.TTFT}, {l.TTFA, r.TTFA}, {l.TPOT, r.TPOT}, {l.E2E, r.E2E}, {l.FromSchedule, r.FromSchedule}} {
		if ms, ok := m.value(); ok {
			m.into.Add(ms)
		}
	}
	l.ClientQueue.Add(r.ClientQueue())
	l.Setup.Add(r.Setup.Seconds() * 1000)
	if r.Streamed {
		for _, ms := range r.GapsMS {
			l.Gap.Add(float64(ms))
		}
	}
}

// Merge adds the samples of o.
func (l *Latencies) Merge(o *Latencies) {
	for _, m := range [][2]*Dist{
		{l.TTFT, o.TTFT}, {l.TTFA, o.TTFA}, {l.TPOT, o.TPOT}, {l.Gap, o.Gap}, {l.E2E, o.E2E},
		{l.Setup, o.Setup}, {l.ClientQueue, o.ClientQueue}, {l.FromSchedule, o.FromSchedule},
	} {
		m[0].Merge(m[1])
	}
}

// Of gives the distribution of a metric by its name in a service level; nil if there
// is none of that name.
func (l *Latencies) Of(metric string) *Dist {
	switch metric {
	case "ttft":
		return l.TTFT
	case "ttfa":
		return l.TTFA
	case "tpot":
		return l.TPOT
	case "gap":
		return l.Gap
	case "e2e":
		return l.E2E
	case "setup":
		return l.Setup
	case "client_queue":
		return l.ClientQueue
	case "from_schedule":
		return l.FromSchedule
	}
	return nil
}
