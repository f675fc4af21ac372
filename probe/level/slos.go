package level

import (
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

// sloTally counts the requests that meet every SLO, and the samples of each.
type sloTally struct {
	targets      []slo.Target
	samples      []samples // by target
	good, judged int
	goodInSpan   float64 // by their share in the span
}

// samples are counted with those beyond the limit.
type samples struct{ n, over int }

func newSLOTally(targets []slo.Target) sloTally {
	return sloTally{targets: targets, samples: make([]samples, len(targets))}
}

// add takes a request. A failure is not a good request, but it is among the judged ones; a
// request that does not count has its share in the goodput as it has in all rates.
func (j *sloTally) add(r *measure.Request, share float64, counts bool) {
	if len(j.targets) == 0 || r.Class == measure.Cancelled || r.Excluded {
		return
	}
	if counts {
		j.judged++
	}
	if r.Class != measure.OK {
		return
	}
	good := slo.Good(r, j.targets)
	if good {
		j.goodInSpan += share
	}
	if !counts {
		return
	}
	if good {
		j.good++
	}
	for i := range j.samples {
		j.samples[i].count(r, &j.targets[i])
	}
}

func (s *samples) count(r *measure.Request, t *slo.Target) {
	if t.Metric != "gap" {
		if ms, ok := t.Value(r); ok {
			s.add(ms > t.LimitMS, 1)
		}
		return
	}
	if r.Streamed {
		for ms, n := range r.EachGap() { // every gap counts, not one figure per request
			s.add(ms > t.LimitMS, n)
		}
	}
}

func (s *samples) add(over bool, n int) {
	s.n += n
	if over {
		s.over += n
	}
}

// figures judges what the Tally has gathered into the Level.
func (j *sloTally) figures(l *Level, t *Tally) {
	l.SLOs = make([]slo.Result, 0, len(j.targets))
	for i := range j.targets {
		l.SLOs = append(l.SLOs, j.result(i, l, t))
	}
	if len(j.targets) == 0 {
		return
	}
	l.GoodShare = ratio(j.good, j.judged)
	if l.Held > 0 {
		l.Goodput = opt.Of(j.goodInSpan / l.Held.Seconds())
	}
	if t.flow.pending > 0 { // see flow
		l.Goodput = l.RequestsPerS.Scale(ratio(j.good, l.OK).Or(0))
	}
}

func (j *sloTally) result(i int, l *Level, t *Tally) slo.Result {
	target, s := j.targets[i], j.samples[i]
	actual := t.dists.summaries().actual[i]
	if target.Metric == slo.Success {
		actual = ratio(l.OK, l.OK+l.Failed)
		s = samples{n: l.OK + l.Failed, over: l.Failed}
	}
	if target.Metric == slo.Gap {
		s.over, s.n = slo.Batches(s.over, s.n, l.InFlight.Or(1))
	}
	r := slo.Judge(target, actual, s.over, s.n)
	if !l.Settled {
		r.Verdict = r.Verdict.Doubted()
	}
	return r
}
