package measure

// Latencies are something about each latency of requests: distributions, summaries.
type Latencies[T any] struct {
	TTFT         T `json:"ttft"`
	TTFA         T `json:"ttfa"`
	TPOT         T `json:"tpot"`
	Gap          T `json:"gap"`
	E2E          T `json:"e2e"`
	Setup        T `json:"setup"`
	ClientQueue  T `json:"client_queue"`
	FromSchedule T `json:"from_schedule"`
}

// metrics is how many latencies there are.
const metrics = 8

// All are in the order of Metrics.
func (l *Latencies[T]) All() [metrics]*T {
	return [...]*T{&l.TTFT, &l.TTFA, &l.TPOT, &l.Gap, &l.E2E, &l.Setup, &l.ClientQueue, &l.FromSchedule}
}

// Metric is a latency of requests.
type Metric struct {
	Name string // in SLOs and in the summary
	// Of is that of a request in milliseconds, absent where it has none. It is nil for the gap,
	// of which a request has many.
	Of func(*Request) (ms float64, ok bool)
}

// Metrics are all latencies.
var Metrics = [metrics]Metric{
	{"ttft", (*Request).TTFT}, {"ttfa", (*Request).TTFA}, {"tpot", (*Request).TPOT}, {"gap", nil}, {"e2e", (*Request).E2E},
	{"setup", func(r *Request) (float64, bool) { return MS(r.Setup), true }},
	{"client_queue", func(r *Request) (float64, bool) { return r.ClientQueue(), true }},
	{"from_schedule", (*Request).FromSchedule},
}

// MetricNamed is the index of a metric by its name, -1 if there is none.
func MetricNamed(name string) int {
	for i := range Metrics {
		if Metrics[i].Name == name {
			return i
		}
	}
	return -1
}

// Observe adds the latencies of a request to distributions; failures and requests during which
// our own process was stopped give no sample.
func (r *Request) Observe(l *Latencies[*Dist]) {
	if r.Class != OK || r.Excluded {
		return
	}
	for i, d := range l.All() {
		if of := Metrics[i].Of; of != nil {
			if ms, ok := of(r); ok {
				(*d).Add(ms)
			}
		}
	}
	if r.Streamed {
		for ms, n := range r.EachGap() {
			for range n {
				l.Gap.Add(ms)
			}
		}
	}
}
