package diagnose

import (
	"fmt"
	"strings"

	"sonde/probe"
	"sonde/probe/measure"
)

// failures counts how requests failed.
type failures struct {
	total, failed int
	byClass       map[measure.Class]int
	messages      map[measure.Class]string // the newest of each class
}

func countFailures(h *history) failures {
	f := failures{byClass: map[measure.Class]int{}, messages: map[measure.Class]string{}}
	h.requests(func(r *probe.Request) {
		f.total++
		if r.Class == measure.OK {
			return
		}
		f.failed++
		f.byClass[r.Class]++
		f.messages[r.Class] = r.Error
	})
	return f
}

// most is the most frequent class, the alphabetically first of equals.
func (f *failures) most() measure.Class {
	best := measure.OK
	for c, n := range f.byClass {
		if n > f.byClass[best] || n == f.byClass[best] && c < best {
			best = c
		}
	}
	return best
}

// said quotes the server on a class.
func (f *failures) said(c measure.Class) string {
	if f.messages[c] == "" {
		return string(c)
	}
	return fmt.Sprintf("%s (%s)", c, f.messages[c])
}

// allFail finds that nothing works at all.
type allFail struct {
	failures
	seconds float64
}

func (r *allFail) check(h *history) outcome {
	const fewest = 3
	r.failures, r.seconds = countFailures(h), h.seconds()
	c := &h.now().Client
	switch {
	case r.failed < r.total || c.InFlight > c.Prefill: // a stream is getting tokens
		return absent
	case r.total < fewest:
		return unclear
	}
	return holds
}

func (r *allFail) verdict() Verdict {
	class := r.most()
	v := Verdict{
		Rule: "all_fail", Level: Bad,
		Says:   "every request fails: " + r.said(class),
		Advice: adviceFor[class],
	}
	v.Evidence = []string{fmt.Sprintf("%d of %d requests in %.0f s, %d of them %s", r.failed, r.total, r.seconds, r.byClass[class], class)}
	return v
}

// adviceFor says what usually helps against a class of failure.
var adviceFor = map[measure.Class]string{
	measure.Connect:        "check the address and that the server runs",
	measure.TLS:            "check the certificate: name a CA file, or skip the check for a test",
	measure.HTTP4xx:        "check the key, the model's name and the path",
	measure.RateLimited:    "lower the rate or the concurrency, or raise the limit",
	measure.HTTP5xx:        "look into the server's log",
	measure.StreamError:    "look into the server's log",
	measure.Truncated:      "look for a proxy that cuts long replies, and into the server's log",
	measure.ConnectionLost: "look for a proxy time-out, and whether the server still runs",
	measure.Timeout:        "see whether the server still answers; raise the idle time-out if it is only slow",
	measure.Empty:          "check the model and its stop words: replies hold no text",
	measure.ContextLength:  "ask for shorter prompts or outputs",
	measure.Redirect:       "use the address that the server redirects to",
	measure.BadReply:       "check that the address is an OpenAI-compatible API",
	measure.LocalLimit:     "raise the limit of open files, or lower the concurrency",
}

// someFail finds a part of the requests failing, refusals for a rate limit apart.
type someFail struct {
	failures
	bad int
}

func (r *someFail) check(h *history) outcome {
	const fewest, share = 20, 0.05
	r.failures = countFailures(h)
	r.bad = r.failed - r.byClass[measure.RateLimited]
	delete(r.byClass, measure.RateLimited)
	if r.total < fewest {
		return unclear
	}
	return found(r.failed < r.total && float64(r.bad) >= share*float64(r.total))
}

func (r *someFail) verdict() Verdict {
	class := r.most()
	level := Warn
	if 2*r.bad >= r.total {
		level = Bad
	}
	return Verdict{
		Rule: "some_fail", Level: level,
		Says:     fmt.Sprintf("%s of requests fail, mostly %s", percent(float64(r.bad)/float64(r.total)), r.said(class)),
		Evidence: []string{fmt.Sprintf("%d of %d requests, %d of them %s", r.bad, r.total, r.byClass[class], class)},
		Advice:   adviceFor[class],
	}
}

// rateLimits finds that the server's limits set the pace.
type rateLimits struct {
	refused, total int
	message        string
	rpm, tpm       float64
}

func (r *rateLimits) check(h *history) outcome {
	const fewest = 3
	f := countFailures(h)
	r.refused, r.total = f.byClass[measure.RateLimited], f.total
	r.message = f.messages[measure.RateLimited]
	c := &h.now().Client
	r.rpm, r.tpm = 60*c.RequestsPerS, 60*(c.InTokensPerS+c.OutTokensPerS)
	return found(r.refused >= fewest)
}

func (r *rateLimits) verdict() Verdict {
	says := fmt.Sprintf("%s binds: %d of %d requests were refused", limitNamed(r.message), r.refused, r.total)
	evidence := []string{fmt.Sprintf("passed: %s requests and %s tokens per minute", count(r.rpm), count(r.tpm))}
	if r.message != "" {
		evidence = append(evidence, "the server says: "+r.message)
	}
	return Verdict{Rule: "rate_limits", Level: Warn, Says: says, Evidence: evidence, Advice: adviceFor[measure.RateLimited]}
}

// limitNamed reads from the refusal which limit it was.
func limitNamed(message string) string {
	m := strings.ToLower(message)
	tokens := strings.Contains(m, "tpm") || strings.Contains(m, "tokens per min")
	requests := strings.Contains(m, "rpm") || strings.Contains(m, "requests per min")
	switch {
	case tokens && !requests:
		return "the limit on tokens per minute"
	case requests && !tokens:
		return "the limit on requests per minute"
	}
	return "a rate limit"
}
