package scrape

import (
	"maps"
	"slices"

	"sonde/probe/engine"
)

// startTime is published by client libraries: when the process started, Unix time.
const startTime = "process_start_time_seconds"

// startHeader is llama.cpp's header for the same.
const startHeader = "Process-Start-Time-Unix"

// lineage distinguishes an engine that restarted from several that take turns answering at
// the same address, as behind a load balancer. A restarted engine has another start time, or
// lower counters, and stays. Where engines take turns, one that has answered before answers
// again.
type lineage struct {
	instances []*instance // the one that answered last is last
	changes   int         // how often another instance answered, by start time or falling counters
	returns   int         // how often it was one that had answered before
	steady    int         // snapshots since another instance answered
}

const (
	mostInstances = 16
	soon          = 4  // snapshots: in turn, an engine answers again after fewer
	steadyAfter   = 30 // snapshots of one instance prove that no others take turns with it
)

// instance is what is known of one engine behind a page.
type instance struct {
	started float64             // Unix seconds; 0 if unknown
	grows   map[string]counters // by where they come from: they only grow while it lives
	below   int                 // counters that were lower when another instance answered
}

// monotone returns the numbers that only grow while an engine lives, by where they come from.
func (s *snapshot) monotone() map[string]counters {
	if s.grows == nil {
		s.grows = map[string]counters{}
		for f, series := range s.series {
			s.grows[s.Origins[f].Source] = series
		}
		for _, f := range engine.Distributions {
			if h := s.Distribution(f); !h.IsZero() {
				s.grows[s.Origins[f].Source] = counters{"count": h.Count, "sum": h.Sum}
			}
		}
	}
	return s.grows
}

// instance returns what a snapshot shows of its engine.
func (s *snapshot) instance() *instance { return &instance{started: s.started, grows: s.monotone()} }

// learn keeps the newest value of every counter: one that is missing from a page for a while
// goes on from where it was.
func (p *instance) learn(s *snapshot) {
	if s.started != 0 {
		p.started = s.started
	}
	before := p.grows
	p.grows = map[string]counters{}
	for source, now := range s.monotone() {
		p.grows[source] = now.with(before[source])
	}
	for source, series := range before {
		if p.grows[source] == nil {
			p.grows[source] = series
		}
	}
}

// with adds the counters of before that are missing.
func (c counters) with(before counters) counters {
	out, own := c, false
	for key, v := range before {
		if _, known := out[key]; known {
			continue
		}
		if !own {
			out, own = maps.Clone(c), true
		}
		out[key] = v
	}
	return out
}

// fallen counts the counters that are lower than they were in the instance.
func (p *instance) fallen(now map[string]counters) int {
	n := 0
	for source, before := range p.grows {
		series := now[source]
		for key, last := range before {
			if v, known := series[key]; known && v < last {
				n++
			}
		}
	}
	return n
}

// is reports whether a snapshot can be of the instance.
func (p *instance) is(s *snapshot) bool {
	return (p.started == 0 || s.started == 0 || p.started == s.started) && p.fallen(s.monotone()) == 0
}

// add takes the next snapshot, and marks it if another instance answered than the time before.
// It reports whether several engines answer in turn.
func (l *lineage) add(s *snapshot) bool {
	if len(l.instances) == 0 {
		l.instances = []*instance{s.instance()}
		return false
	}
	last := l.instances[len(l.instances)-1]
	last.below = last.fallen(s.monotone())
	same := last.is(s)
	at := l.returned(s, same)
	s.Restarted = !same || at >= 0
	switch {
	case s.Restarted:
		l.steady = 0
	case l.steady < steadyAfter:
		l.steady++
	default:
		*l = lineage{instances: []*instance{last}, steady: steadyAfter}
	}
	if !same {
		l.changes++
	}
	if at >= 0 {
		back := l.instances[at]
		l.instances = append(slices.Delete(l.instances, at, at+1), back)
		l.returns++
	} else if !same {
		l.instances = append(l.instances, s.instance())
		l.instances = l.instances[max(0, len(l.instances)-mostInstances):]
	}
	l.instances[len(l.instances)-1].learn(s)
	return l.returns > 0 && l.changes > 1
}

// returned finds the instance that answers again, -1 for none. Counters that kept growing
// may be those of an earlier instance too: then all that were lower since have come back soon,
// and at once. An engine that restarted passes its old values late, and one by one.
func (l *lineage) returned(s *snapshot, same bool) int {
	last := l.instances[len(l.instances)-1]
	for i := len(l.instances) - 2; i >= 0; i-- {
		p := l.instances[i]
		byStart := p.started != 0 && s.started != 0
		switch {
		case !p.is(s), same && byStart:
		case !same, l.steady < soon && p.below > 1 && p.fallen(last.grows) == p.below:
			return i
		}
	}
	return -1
}
