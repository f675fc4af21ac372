package export

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sonde/probe/diagnose"
	"sonde/probe/opt"
)

// Status is how an endpoint fares at the moment of a scrape.
type Status struct {
	Endpoint, Model string
	Up              opt.Float // 1: the newest request succeeded, 0: it failed; unknown before the first one
	InFlight        int
	LastSuccess     time.Time // zero: none yet
	Rule            diagnose.Rule
	Severity        diagnose.Severity

	Canary *Canary // nil: not watched by a canary
}

// Canary is what a canary knows of its target beyond that.
type Canary struct {
	State  string
	States []string // all there are
	Since  time.Time
	Budget int // tokens an hour; 0: no limit
	Spent  int // tokens in the last hour
}

// statuses asks for the state of all endpoints at each scrape: a series that no longer holds
// is gone with it.
type statuses struct {
	mu    sync.Mutex
	asked []func() []Status
}

// Watch adds endpoints whose state is asked for at every scrape.
func (m *Metrics) Watch(status func() []Status) {
	m.statuses.mu.Lock()
	defer m.statuses.mu.Unlock()
	m.statuses.asked = append(m.statuses.asked, status)
}

func gauge(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append(series[:len(series):len(series)], more...), nil)
}

var (
	descUp       = gauge("sonde_up", "Whether the newest request that ended succeeded.")
	descInFlight = gauge("sonde_requests_in_flight", "Requests that began and have not ended.")
	descSuccess  = gauge("sonde_last_success_timestamp_seconds", "When a request last succeeded, as Unix time.")
	descVerdict  = gauge("sonde_verdict_info", "The strongest verdict; always 1.", "id", "severity")
	descSeverity = gauge("sonde_verdict_severity", "How bad the strongest verdict is: 0 unknown, 1 healthy, 2 info, 3 warn, 4 bad.")
	descState    = gauge("sonde_canary_state", "State of a canary's target: 1 for the present one, 0 for all others.", "state")
	descSince    = gauge("sonde_canary_state_since_timestamp_seconds", "When the target entered its present state, as Unix time.")
	descBudget   = gauge("sonde_canary_budget_tokens", "Tokens that the canary may spend on the target in an hour.")
	descSpent    = gauge("sonde_canary_spent_tokens", "Tokens that the canary has spent on the target in the last hour.")
)

// Describe implements prometheus.Collector.
func (s *statuses) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descUp, descInFlight, descSuccess, descVerdict, descSeverity, descState, descSince, descBudget, descSpent} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (s *statuses) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	asked := s.asked
	s.mu.Unlock()
	seen := map[[2]string]bool{}
	for _, ask := range asked {
		for _, status := range ask() {
			// Two targets may turn out to be the same endpoint and model.
			if of := [2]string{status.Endpoint, status.Model}; !seen[of] {
				seen[of] = true
				status.collect(to)
			}
		}
	}
}

func (s *Status) collect(to chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, v float64, more ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{s.Endpoint, s.Model}, more...)...)
	}
	if s.Up.OK {
		send(descUp, s.Up.V)
	}
	send(descInFlight, float64(s.InFlight))
	if !s.LastSuccess.IsZero() {
		send(descSuccess, unix(s.LastSuccess))
	}
	send(descVerdict, 1, string(s.Rule), s.Severity.String())
	send(descSeverity, float64(s.Severity))
	c := s.Canary
	if c == nil {
		return
	}
	for _, state := range c.States {
		is := 0.0
		if state == c.State {
			is = 1
		}
		send(descState, is, state)
	}
	send(descSince, unix(c.Since))
	if c.Budget > 0 {
		send(descBudget, float64(c.Budget))
	}
	send(descSpent, float64(c.Spent))
}

// unix is a time in seconds since 1970, to the millisecond.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
