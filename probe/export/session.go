package export

import (
	"sync"
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

// Session exports what one session measures. It is a reader of Frames.
type Session struct {
	metrics *Metrics

	mu     sync.Mutex // guards what follows; a scrape holds it while it judges
	judge  *diagnose.Judge
	status Status
}

// NewSession exports the Frames that it is given under the name of the endpoint, which must
// have no credentials in it.
func (m *Metrics) NewSession(endpoint string, slos []slo.Target) *Session {
	s := &Session{metrics: m, judge: diagnose.New(), status: Status{Endpoint: endpoint}}
	s.judge.SetSLOs(slos)
	m.Watch(s.statuses)
	return s
}

// Add takes the next Frame.
func (s *Session) Add(f *frame.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judge.Add(f)
	s.status.InFlight = f.Client.InFlight
	if model := f.Engine.Identity.Model; model != "" && s.status.Model == "" {
		s.status.Model = model
		s.metrics.Announce(s.status.Endpoint, model)
	}
	for i := range f.Requests {
		r := &f.Requests[i]
		s.metrics.Count(s.status.Endpoint, s.status.Model, r)
		s.status.note(r, f.Target.Started)
	}
}

// note remembers whether a request that ended succeeded. A cancelled one says nothing, and
// neither does a long prompt sent on purpose.
func (s *Status) note(r *measure.Request, epoch time.Time) {
	switch {
	case r.Class == measure.Cancelled || r.Long:
	case r.Class == measure.OK:
		s.Up = opt.Of(1)
		s.LastSuccess = epoch.Add(r.End)
	default:
		s.Up = opt.Of(0)
	}
}

// statuses is the state of the session's one endpoint.
func (s *Session) statuses() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.judge.Strongest()
	s.status.Rule, s.status.Severity = v.Rule, v.Severity
	return []Status{s.status}
}
