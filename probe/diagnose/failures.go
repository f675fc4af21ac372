package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sonde/probe/measure"
	"sonde/probe/units"
)

// failures counts how requests failed.
type failures struct {
	total, failed int
	byClass       map[measure.Class]int
	recent        map[measure.Class]int    // of these, in the newest seconds
	messages      map[measure.Class]string // the newest of each class
	causes        map[measure.Class]measure.Cause
	ago           time.Duration // since the newest failure
	okSince       int           // successes after it
	seconds       float64
}

func countFailures(h *history) failures {
	f := failures{byClass: map[measure.Class]int{}, recent: map[measure.Class]int{}, messages: map[measure.Class]string{},
		causes: map[measure.Class]measure.Cause{}, seconds: h.seconds()}
	for _, e := range h.ended() {
		f.total++
		if e.Class == measure.OK {
			f.okSince++
			continue
		}
		f.failed++
		f.byClass[e.Class]++
		f.messages[e.Class], f.causes[e.Class] = e.Error, e.Cause
		f.ago, f.okSince = h.now().At-e.at, 0
		if f.ago < failureFades {
			f.recent[e.Class]++
		}
	}
	return f
}

// goesOn reports whether requests still fail, not only that some of the window did.
func (f *failures) goesOn() bool {
	return f.failed > 0 && (f.ago < failureFades || f.okSince < enough)
}

// most is the class to name: the most frequent of the newest seconds, or, if
// there is none, of all; the alphabetically first of equals.
func (f *failures) most() measure.Class {
	for _, counts := range []map[measure.Class]int{f.recent, f.byClass} {
		best := measure.OK
		for c, n := range counts {
			if n > counts[best] || n == counts[best] && c < best {
				best = c
			}
		}
		if best != measure.OK {
			return best
		}
	}
	return measure.OK
}

// quote is a class of failure with the server's newest message of it.
func (f *failures) quote(c measure.Class) string { return quote(c, f.messages[c]) }

func quote(c measure.Class, message string) string {
	switch {
	case message == "":
		return string(c)
	case strings.HasPrefix(message, string(c)+":"):
		return message // "connect: connection refused" names the class itself
	}
	return fmt.Sprintf("%s: %s", c, message)
}

// checkSomeFail finds requests that fail while others succeed. Refusals for a rate
// limit count only where they are too few for a finding of their own.
func checkSomeFail(h *history) (outcome, Verdict) {
	f := countFailures(h)
	bad := f.failed - f.byClass[measure.RateLimited]
	many := f.total >= someFailFewest && f.failed < f.total && float64(bad) >= someFailShare*float64(f.total)
	switch {
	case h.finds(RuleAllFail, checkAllFail):
		return absent, Verdict{} // the mean of the window is of two times
	case f.failed == 0 && f.total < someFailFewest:
		return unclear, Verdict{}
	case !f.goesOn(), !many && h.finds(RuleRateLimits, checkRateLimits):
		return absent, Verdict{}
	case many:
		delete(f.byClass, measure.RateLimited)
		delete(f.recent, measure.RateLimited)
		return holds, f.many(bad)
	}
	return holds, f.few()
}

func (f *failures) many(bad int) Verdict {
	class := f.most()
	v := Verdict{
		Severity: Warn,
		Text:     fmt.Sprintf("%s of requests fail, mostly %s", units.Share(float64(bad)/float64(f.total)), f.quote(class)),
		Evidence: []string{fmt.Sprintf("%d of %d requests in %.0f s, %d of them %s", bad, f.total, f.seconds, f.byClass[class], class)},
		Advice:   adviceOn(class, f.causes[class]),
	}
	if 2*bad >= f.total {
		v.Severity = Bad
	}
	return v
}

// few are too few to be called more: a server with them is not in good health, either.
func (f *failures) few() Verdict {
	class := f.most()
	v := Verdict{
		Severity: Info,
		Text:     fmt.Sprintf("%d of %d requests failed: %s", f.failed, f.total, f.quote(class)),
		Evidence: []string{fmt.Sprintf("in %.0f s, the last %s ago, %d of them %s", f.seconds, units.Elapsed(f.ago), f.byClass[class], class)},
		Advice:   adviceOn(class, f.causes[class]),
	}
	if 2*f.failed >= f.total && f.total > 2 {
		v.Severity = Warn
	}
	return v
}

// checkAllFail finds that nothing works any more: not by the mean of the window, but
// by the requests that ended last.
func checkAllFail(h *history) (outcome, Verdict) {
	ended := h.ended()
	first := len(ended)
	for first > 0 && ended[first-1].Class != measure.OK {
		first--
	}
	run, always := ended[first:], first == 0
	if len(run) == 0 {
		return absent, Verdict{}
	}
	since := h.now().At - run[0].at
	switch c := &h.now().Client; {
	case c.InFlight > c.Prefill && h.quiet() < h.usual.gapLimit(0) && !midStream(run):
		return absent, Verdict{} // a stream is getting tokens
	case len(run) < allFailFewest || !always && (since < allFailShortest || !unlikely(ended[:first], len(run))):
		return unclear, Verdict{}
	}
	newest := newestFailure(run)
	class := newest.Class
	text := "every request fails: "
	if !always {
		text = fmt.Sprintf("every request in the last %s has failed: ", units.Elapsed(since))
	}
	same := 0
	for i := range run {
		if run[i].Class == class {
			same++
		}
	}
	return holds, Verdict{
		Severity: Bad, Text: text + quote(class, newest.Error),
		Evidence: []string{fmt.Sprintf("%d failures in a row, %d of them %s", len(run), same, class)},
		Advice:   adviceOn(class, newest.Cause),
	}
}

// midStream reports whether the failures came after tokens: then tokens do not show
// that anything works.
func midStream(run []endedRequest) bool {
	for i := range run {
		if run[i].Chunks == 0 {
			return false
		}
	}
	return true
}

// unlikely reports whether so many failures in a row are no chance, given how often
// requests failed before: from the first failure on, because the calm before a
// trouble that lets some requests through says nothing about its share.
func unlikely(before []endedRequest, run int) bool {
	if i := slices.IndexFunc(before, func(r endedRequest) bool { return r.Class != measure.OK }); i > 0 {
		before = before[i:]
	}
	failed := 0
	for i := range before {
		if before[i].Class != measure.OK {
			failed++
		}
	}
	share := float64(failed+1) / float64(len(before)+2)
	return math.Pow(share, float64(run)) <= allFailChance
}

// newestFailure is the newest one of the most frequent class of the last two seconds
// of failures. The cause may have changed since the first.
func newestFailure(run []endedRequest) *measure.Request {
	const span = 2 * time.Second
	n := map[measure.Class]int{}
	newest, last := run[len(run)-1].Request, run[len(run)-1].at
	for i := len(run) - 1; i >= 0 && run[i].at > last-span; i-- {
		q := run[i].Request
		if n[q.Class]++; n[q.Class] > n[newest.Class] {
			newest = q
		}
	}
	for i := len(run) - 1; i >= 0; i-- {
		if run[i].Class == newest.Class {
			return run[i].Request
		}
	}
	return newest
}
