package canary

import (
	"slices"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
)

// history is what the probes of the last hour were like, oldest first.
type history struct {
	slos    []slo.Target
	samples []sample
	worked  bool            // a probe has ever succeeded
	failure measure.Request // the newest failure
	slow    *slowness       // nil: as fast as usual
}

// sample is one probe that ended.
type sample struct {
	at              time.Time
	class           measure.Class
	ttft, tpot, e2e opt.Float
	slos            []opt.Float // what it has to show for each SLO, ms
	slow            bool        // part of a stretch that was slow: not what is usual
	atOnce          bool        // most of its tokens arrived together
}

func (s *sample) ok() bool { return s.class == measure.OK }

func (h *history) add(now time.Time, r *measure.Request) {
	s := sample{at: now, class: r.Class}
	if s.ok() {
		h.worked = true
		s.ttft, s.tpot, s.e2e = known(r.TTFT()), known(r.TPOT()), known(r.E2E())
		s.atOnce = r.Chunks >= atOnceFewest && 2*r.Coalesced > r.Chunks
		for i := range h.slos {
			s.slos = append(s.slos, known(h.slos[i].Value(r)))
		}
	} else {
		h.failure = *r
	}
	h.samples = append(slices.DeleteFunc(h.samples, func(s sample) bool { return now.Sub(s.at) >= span }), s)
	h.findSlowness()
}

// last are the newest samples, at most so many and no older than that.
func (h *history) last(n int, now time.Time, age time.Duration) []sample {
	list := h.samples[max(0, len(h.samples)-n):]
	for len(list) > 0 && now.Sub(list[0].at) > age {
		list = list[1:]
	}
	return list
}

// failedRun is how many of the newest probes failed in a row, and since when.
func (h *history) failedRun() (n int, since time.Time) {
	for _, s := range slices.Backward(h.samples) {
		if s.ok() {
			break
		}
		n, since = n+1, s.at
	}
	return n, since
}

func failed(list []sample) (n int) {
	for i := range list {
		if !list[i].ok() {
			n++
		}
	}
	return n
}

func (h *history) counts() (probes, failures int, classes map[measure.Class]int) {
	classes = map[measure.Class]int{}
	for i := range h.samples {
		if s := &h.samples[i]; !s.ok() {
			classes[s.class]++
		}
	}
	return len(h.samples), failed(h.samples), classes
}

// summaries are those of the latencies in the last hour.
func (h *history) summaries() measure.Latencies[*measure.Summary] {
	of := func(figure func(*sample) opt.Float) *measure.Summary {
		s := distOf(h.samples, figure).Summary()
		return &s
	}
	return measure.Latencies[*measure.Summary]{TTFT: of(ttftOf), TPOT: of(tpotOf), E2E: of(e2eOf)}
}

func ttftOf(s *sample) opt.Float { return s.ttft }
func tpotOf(s *sample) opt.Float { return s.tpot }
func e2eOf(s *sample) opt.Float  { return s.e2e }

func distOf(list []sample, figure func(*sample) opt.Float) *measure.Dist {
	d := measure.NewDist(len(list))
	for i := range list {
		if v := figure(&list[i]); v.OK {
			d.Add(v.V)
		}
	}
	return d
}

// recentKept is how many TTFTs a Row has for its curve.
const recentKept = 60

func (h *history) recent() []opt.Float {
	var out []opt.Float
	for _, s := range h.samples[max(0, len(h.samples)-recentKept):] {
		out = append(out, s.ttft)
	}
	return out
}
