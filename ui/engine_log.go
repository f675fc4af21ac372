package ui

import (
	"time"

	"sonde/probe/engine"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// engineLog keeps what the engine said of itself lately, one entry a reading.
type engineLog []engine.Status

// keepEngine is how far back the log reaches: the engine's own latencies are
// differences over this time.
const keepEngine = 60 * time.Second

// rateOver is how many readings a rate is averaged over: engines count tokens
// when a step ends, so a single interval jumps.
const rateOver = 10 * time.Second

// fold adds a reading that is new. The log is never changed in place, so that a
// paused picture may share it.
func (l engineLog) fold(s engine.Status) engineLog {
	at := s.Reading.At
	if len(l) > 0 && s.Have && !s.Reading.SameOf(&l[0].Reading) {
		l = nil // another model or replica is looked at
	}
	if !s.Have || len(l) > 0 && l[len(l)-1].Reading.At.Equal(at) {
		return l
	}
	if len(l) > 0 && at.Before(l[len(l)-1].Reading.At) {
		l = nil // a source that started over
	}
	return append(l.since(at.Add(-keepEngine)), s)
}

func (l engineLog) since(t time.Time) engineLog {
	var kept engineLog
	for i := range l {
		if !l[i].Reading.At.Before(t) {
			kept = append(kept, l[i])
		}
	}
	return kept
}

// meanOf averages one figure over the readings of the last 10 s.
func (l engineLog) meanOf(of func(*engine.Status) opt.Float) opt.Float {
	if len(l) == 0 {
		return opt.Float{}
	}
	from := l[len(l)-1].Reading.At.Add(-rateOver)
	var m mean
	for i := range l {
		if l[i].Reading.At.After(from) {
			m.add(of(&l[i]))
		}
	}
	return m.known()
}

// prefixHits is the share of the prompts that the prefix cache answered, over the
// readings of the last 10 s and more if nothing was asked in them: where requests
// come in step, every other reading knows of none.
func (l engineLog) prefixHits() opt.Float {
	if len(l) == 0 {
		return opt.Float{}
	}
	last := &l[len(l)-1].Reading
	from, share := last.At.Add(-rateOver), last.PrefixHitRate
	for i := len(l) - 2; i >= 0 && !l[i+1].Reading.Restarted; i-- {
		first := &l[i].Reading
		asked := last.PrefixQueries.V - first.PrefixQueries.V
		if !first.PrefixQueries.OK || !first.PrefixHits.OK || !last.PrefixQueries.OK || !last.PrefixHits.OK {
			break
		}
		if asked > 0 {
			share = opt.Float{V: (last.PrefixHits.V - first.PrefixHits.V) / asked, OK: true}
		}
		if share.OK && !first.At.After(from) {
			break
		}
	}
	return share
}

func promptRate(s *engine.Status) opt.Float { return s.Reading.PromptTokensPerS }
func outputRate(s *engine.Status) opt.Float { return s.Reading.GenerationTokensPerS }

// quantiler is a histogram of the engine.
type quantiler interface {
	Quantile(q float64) (seconds, above float64, ok bool)
}

// growth is what one of the engine's histograms gained from then to now.
type growth func(now, then *engine.Status) (h quantiler, count float64)

func ttftGrowth(now, then *engine.Status) (quantiler, float64) {
	h := now.Reading.TTFT.Sub(then.Reading.TTFT)
	return h, h.Count
}

func gapGrowth(now, then *engine.Status) (quantiler, float64) {
	h := now.Reading.Gap.Sub(then.Reading.Gap)
	return h, h.Count
}

func e2eGrowth(now, then *engine.Status) (quantiler, float64) {
	h := now.Reading.E2E.Sub(then.Reading.E2E)
	return h, h.Count
}

// estimate is what the engine says of the requests of all its clients.
type estimate struct {
	p50, p95 bound
	n        int // 0: the engine says nothing
}

// bound is an estimated percentile in milliseconds, or only its lower bound where
// it lies beyond the last finite bucket.
type bound struct {
	ms     float64
	beyond bool
}

// over estimates from what a histogram gained while the log lasts. After a
// restart it begins anew.
func (l engineLog) over(of growth) estimate {
	if len(l) < 2 {
		return estimate{}
	}
	first := 0
	for i := 1; i < len(l); i++ {
		if !l[i].Reading.Follows(&l[i-1].Reading) {
			first = i
		}
	}
	h, count := of(&l[len(l)-1], &l[first])
	if count < 1 {
		return estimate{}
	}
	return estimate{p50: boundOf(h, 0.50), p95: boundOf(h, 0.95), n: int(count)}
}

func boundOf(h quantiler, q float64) bound {
	v, above, ok := h.Quantile(q)
	if !ok {
		return bound{ms: 1000 * above, beyond: true}
	}
	return bound{ms: 1000 * v}
}

// in writes the bound in a unit, with > before a lower bound.
func (b bound) in(u scaleUnit) string {
	if b.beyond {
		return ">" + u.of(b.ms)
	}
	return u.of(b.ms)
}

// watching tells that there are no requests of our own, so that the engine's word
// is all there is.
func (p *picture) watching(own measure.Summary) bool {
	return p.have && own.N == 0 && p.wish.Concurrency == 0 && p.frame.Client.InFlight == 0
}

// engineOwn is the engine's own estimate where it stands in for ours.
func (p *picture) engineOwn(own measure.Summary, of growth) (estimate, bool) {
	if of == nil || !p.watching(own) {
		return estimate{}, false
	}
	e := p.history.engine.over(of)
	return e, e.n > 0
}

// figures of an estimate, marked as one.
func (t *theme) estimated(e estimate, u scaleUnit) []figure {
	return []figure{
		{"est.", t.dim},
		{"p50 " + e.p50.in(u), t.p50},
		{"p95 " + e.p95.in(u), t.p95},
		{"n " + group(float64(e.n)), t.dim},
	}
}
