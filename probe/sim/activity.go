package sim

import "time"

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
