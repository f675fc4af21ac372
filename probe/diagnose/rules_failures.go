package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/probe/measure"
)

// failures counts how requests failed.
type failures struct {
	total, failed int
	byClass       map[measure.Class]int
	recent        map[measure.Class]int    // of these, in the newest seconds
	messages      map[measure.Class]string // the newest of each class
	ago           time.Duration            // since the newest failure
	okSince       int                      // successes after it
	seconds       float64
}

// failureFades is how long after the last failure a server counts as failing.
const failureFades = 10 * time.Second

func countFailures(h *history) failures {
	f := failures{byClass: map[measure.Class]int{}, recent: map[measure.Class]int{}, messages: map[measure.Class]string{}, seconds: h.seconds()}
	for _, e := range h.ended() {
		f.total++
		if e.Class == measure.OK {
			f.okSince++
			continue
		}
		f.failed++
		f.byClass[e.Class]++
		f.messages[e.Class] = e.Error
		f.ago, f.okSince = h.now().At-e.at, 0
		if f.ago < failureFades {
			f.recent[e.Class]++
		}
	}
	return f
}

// lately tells that requests still fail, not only that some of the window did.
func (f *failures) lately() bool {
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

// said quotes the server on a class.
func (f *failures) said(c measure.Class) string { return quote(c, f.messages[c]) }

func quote(c measure.Class, message string) string {
	switch {
	case message == "":
		return string(c)
	case strings.HasPrefix(message, string(c)+":"):
		return message // "connect: connection refused" names the class itself
	}
	return fmt.Sprintf("%s: %s", c, message)
}

// endedRequest is a request of the history, with the end of its slice.
type endedRequest struct {
	*measure.Request
	at time.Duration
}

// ended gives the requests that had a result of the server's making, in the order
// in which they ended.
func (h *history) ended() []endedRequest {
	if len(h.inOrder) > 0 {
		return h.inOrder // several rules ask at each Frame
	}
	for _, f := range h.frames {
		first := len(h.inOrder)
		for i := range f.Requests {
			if r := &f.Requests[i]; counts(r) {
				h.inOrder = append(h.inOrder, endedRequest{r, f.At})
			}
		}
		slices.SortStableFunc(h.inOrder[first:], func(a, b endedRequest) int { return cmp.Compare(a.End, b.End) })
	}
	return h.inOrder
}

// someFail finds a part of the requests failing, refusals for a rate limit apart.
type someFail struct {
	failures
	bad int
}

func (r *someFail) check(h *history) outcome {
	const fewest, share = 20, 0.05
	r.failures = countFailures(h)
	if (&allFail{}).check(h) == holds {
		return absent // the mean of the window is of two times
	}
	r.bad = r.failed - r.byClass[measure.RateLimited]
	delete(r.byClass, measure.RateLimited)
	delete(r.recent, measure.RateLimited)
	if r.total < fewest {
		return unclear
	}
	return found(r.lately() && r.failed < r.total && float64(r.bad) >= share*float64(r.total))
}

func (r *someFail) verdict() Verdict {
	class := r.most()
	level := Warn
	if 2*r.bad >= r.total {
		level = Bad
	}
	return Verdict{
		Severity: level,
		Text:     fmt.Sprintf("%s of requests fail, mostly %s", percent(float64(r.bad)/float64(r.total)), r.said(class)),
		Evidence: []string{fmt.Sprintf("%d of %d requests in %.0f s, %d of them %s", r.bad, r.total, r.seconds, r.byClass[class], class)},
		Advice:   adviceFor[class],
	}
}

// fewFail finds failures too few to be called more: a server with them is not in
// good health, either.
type fewFail struct{ failures }

func (r *fewFail) check(h *history) outcome {
	r.failures = countFailures(h)
	for _, greater := range []rule{&allFail{}, &someFail{}, &rateLimits{}} {
		if greater.check(h) == holds {
			return absent
		}
	}
	return found(r.lately())
}

func (r *fewFail) verdict() Verdict {
	class, level := r.most(), Info
	if 2*r.failed >= r.total && r.total > 2 {
		level = Warn
	}
	return Verdict{
		Severity: level,
		Text:     fmt.Sprintf("%d of %d requests failed: %s", r.failed, r.total, r.said(class)),
		Evidence: []string{fmt.Sprintf("in %.0f s, the last %s ago, %d of them %s", r.seconds, wholeSeconds(r.ago), r.byClass[class], class)},
		Advice:   adviceFor[class],
	}
}
