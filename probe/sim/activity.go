package sim

import "time"

// activity is what the hardware counters show, each 0 to 1.
type activity struct {
	busy   float64 // share of time in which a kernel ran
	sm     float64 // share of SM time with a warp resident; waiting for memory counts
	tensor float64 // share of the cycles of the tensor cores
	dram   float64 // share of the bandwidth peak
}

// What the SMs of a busy GPU are occupied to. Large products fill them. When memory
// binds, the products are thin: of a few tokens only, they have fewer tiles than the
// GPU has SMs, and attention has one piece of work per sequence and KV head, so that
// SMs stay empty until some dozens of tokens are in the batch. Reductions between
// GPUs take a few SMs. The figures are ours.
const (
	smComputeBound = 0.98
	smThin, smWide = 0.3, 0.95 // bound by memory, with next to no and with very many tokens
	smThinTokens   = 24        // tokens at which half of the way between them is gone
	smLink         = 0.15
)

// activity of an iteration, averaged over its duration.
func (c *cost) activity(m *machine) activity {
	total := c.duration().Seconds()
	kernels, link := c.kernels().Seconds()/total, c.link.Seconds()/total
	tokens := float64(c.tokens)
	memoryBound := smThin + (smWide-smThin)*tokens/(tokens+smThinTokens)
	bound := c.compute.Seconds() / c.kernels().Seconds()
	return activity{
		busy:   kernels + link,
		sm:     kernels*(memoryBound+(smComputeBound-memoryBound)*bound) + link*smLink,
		tensor: c.compute.Seconds() * m.flopsShare / total,
		dram:   c.bytes / total / m.bandwidth,
	}
}

// activityWindow is what the hardware counters average over, as an exporter
// does that collects once a second.
const activityWindow = time.Second

// activityLog remembers the iterations of the window. An iteration is noted
// when it starts, so that a long one shows while it runs.
type activityLog struct {
	spans  []span
	joules float64 // of all iterations that began, above idle power
}

type span struct {
	start, end time.Duration
	activity
}

func (l *activityLog) add(it iteration, m *machine) {
	old := 0
	for old < len(l.spans) && l.spans[old].end < it.start-activityWindow {
		old++
	}
	now := span{it.start, it.end, it.cost.activity(m)}
	l.spans = append(l.spans[old:], now)
	l.joules += (m.watts(now.activity) - m.idleWatts) * (it.end - it.start).Seconds()
}

// energy is what one GPU has used since it started, in joules.
func (l *activityLog) energy(now time.Duration, m *machine) float64 {
	return l.joules + m.idleWatts*now.Seconds()
}

// mean averages over the window that ends now; time without an iteration is idle.
func (l *activityLog) mean(now time.Duration) activity {
	from := max(0, now-activityWindow)
	var sum activity
	for _, s := range l.spans {
		share := (min(s.end, now) - max(s.start, from)).Seconds() / max(now-from, 1).Seconds()
		if share <= 0 {
			continue
		}
		sum.busy += share * s.busy
		sum.sm += share * s.sm
		sum.tensor += share * s.tensor
		sum.dram += share * s.dram
	}
	return sum
}
