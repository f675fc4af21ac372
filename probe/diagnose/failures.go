package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sonde/probe/measure"
	"sonde/probe/units"
)

// failures are the requests of the history that failed, in the order in which they ended.
type failures struct {
	all     []endedRequest
	recent  []endedRequest // the last of them, until they fade
	total   int            // requests, with those that succeeded
	ago     time.Duration  // since the newest failure
	okSince int            // successes after it
	again   recurrence     // of failures
}

func (h *history) findFailures() failures {
	f := failures{total: len(h.ended)}
	for _, e := range h.ended {
		if e.Class == measure.OK {
			f.okSince++
			continue
		}
		f.all = append(f.all, e)
		f.again.add(e.at)
		f.ago, f.okSince = h.now().At-e.at, 0
	}
	f.recent = since(f.all, h.now().At-failureFades)
	return f
}

// since are the requests that ended after some moment.
func since(list []endedRequest, moment time.Duration) []endedRequest {
	i := len(list)
	for i > 0 && list[i-1].at > moment {
		i--
	}
	return list[i:]
}

func count(list []endedRequest, class measure.Class) (n int) {
	for _, e := range list {
		if e.Class == class {
			n++
		}
	}
	return n
}

// goesOn reports whether requests still fail, not just whether some in the history did: it is
// over when so many successes in a row would hardly be chance, or after a while.
func (f *failures) goesOn() bool {
	if len(f.all) == 0 {
		return false
	}
	share := float64(len(f.all)) / float64(f.total+2) // cautious while there are few
	chance := math.Pow(1-share, float64(f.okSince))
	if f.okSince >= stoppedFewest && f.ago >= stoppedShortest && chance <= stoppedChance {
		return false
	}
	return f.again.goesOn(f.again.last+f.ago) || len(f.recent) > 0 && len(f.all) == 1 || f.okSince < stoppedFewest
}

// limited reports whether rate limits set the pace.
func (f *failures) limited() bool {
	return count(f.all, measure.RateLimited) >= rateLimitsFewest && f.goesOn() &&
		(count(f.recent, measure.RateLimited) > 0 || f.okSince < enough)
}

// foremost is the newest failure of the most frequent class; among equally frequent ones,
// of the one that failed last.
func foremost(list []endedRequest) endedRequest {
	best := list[len(list)-1]
	for _, e := range slices.Backward(list) {
		if count(list, e.Class) > count(list, best.Class) {
			best = e
		}
	}
	return best
}

// FailureText is a class of failure with the server's message.
func FailureText(r *measure.Request) string {
	if strings.HasPrefix(r.Error, string(r.Class)+":") {
		return r.Error // "connect: connection refused" names the class itself
	}
	return string(r.Class) + colon(r.Error)
}

// checkSomeFail finds requests that fail while others succeed. Rate-limit refusals count
// only if there are too few for their own verdict.
func checkSomeFail(h *history) finding {
	f := &h.failures
	failed, refused := len(f.all), count(f.all, measure.RateLimited)
	other := failed - refused
	many := f.total >= someFailFewest && failed < f.total && float64(other) >= someFailShare*float64(f.total)
	switch {
	case failed == 0 && f.total < someFailFewest:
		return unclear
	case !f.goesOn(), !many && f.limited():
		return absent
	case many:
		refusal := func(e endedRequest) bool { return e.Class == measure.RateLimited }
		worst, same := f.worst(refusal)
		return warn("%s of requests fail, mostly %s", units.Share(float64(other)/float64(f.total)), FailureText(worst.Request)).
			asIf(2*other >= f.total, Bad).
			with("%d of %d requests in %.0f s, %s", other, f.total, h.seconds(), ofClass(same, other, worst.Class)).
			advise(FailureAdvice(worst.Request))
	}
	worst, same := f.worst(func(endedRequest) bool { return false })
	return info("%d of %d requests failed: %s", failed, f.total, FailureText(worst.Request)).
		asIf(2*failed >= f.total && f.total > 2, Warn).
		with("in %.0f s, the last one %s ago, %s", h.seconds(), units.Elapsed(f.ago), ofClass(same, failed, worst.Class)).
		advise(FailureAdvice(worst.Request))
}

// ofClass is how many of all failures are of a class.
func ofClass(n, all int, class measure.Class) string {
	if n == all {
		return "all " + string(class)
	}
	return fmt.Sprintf("%d of them %s", n, class)
}

// worst is the failure to name, leaving some apart: the foremost one of the newest seconds,
// else of all; and how many are of its class.
func (f *failures) worst(apart func(endedRequest) bool) (worst endedRequest, same int) {
	recent := slices.DeleteFunc(slices.Clone(f.recent), apart)
	if len(recent) == 0 {
		recent = slices.DeleteFunc(slices.Clone(f.all), apart)
	}
	worst = foremost(recent)
	return worst, count(f.all, worst.Class)
}

// checkAllFail finds that nothing works any more. It goes by the requests that ended last,
// not by a share of the window.
func checkAllFail(h *history) finding {
	first := len(h.ended)
	for first > 0 && h.ended[first-1].Class != measure.OK {
		first--
	}
	before, run, always := h.ended[:first], h.ended[first:], first == 0 && h.clean == 0
	if len(run) == 0 {
		return absent
	}
	lasts := h.now().At - run[0].at
	switch c := &h.now().Client; {
	case c.InFlight > c.Prefill && h.quiet() < h.usual.gapLimit(0) && !midStream(run):
		return absent // a stream is getting tokens
	case len(run) < allFailFewest || !always && (lasts < h.couldSucceed() || !unlikely(before, len(run))):
		return unclear
	}
	// The cause may have changed since the first.
	worst := foremost(since(run, run[len(run)-1].at-allFailNewest))
	text := "every request fails: "
	if !always {
		text = fmt.Sprintf("every request in the last %s has failed: ", units.Elapsed(lasts))
	}
	return bad("%s%s", text, FailureText(worst.Request)).
		with("%d failures in a row, %s", len(run), ofClass(count(run, worst.Class), len(run), worst.Class)).
		advise(FailureAdvice(worst.Request))
}

// couldSucceed is how long all requests have to fail: as long as one takes that succeeds, since
// those that fail end sooner.
func (h *history) couldSucceed() time.Duration {
	return min(max(allFailShortest, milliseconds(allFailAnswers*h.now().Client.E2E.P50)), allFailLongest)
}

// midStream reports whether all failures came after some tokens: then tokens do not prove
// that anything works.
func midStream(run []endedRequest) bool {
	return !slices.ContainsFunc(run, func(e endedRequest) bool { return e.Chunks == 0 })
}

// unlikely reports whether so many failures in a row are beyond chance, given how often
// requests failed before. That counts from the first failure on: the calm before it says
// nothing about how many requests the trouble lets through.
func unlikely(before []endedRequest, run int) bool {
	if i := slices.IndexFunc(before, func(r endedRequest) bool { return r.Class != measure.OK }); i > 0 {
		before = before[i:]
	}
	share := float64(len(before)-count(before, measure.OK)+1) / float64(len(before)+2)
	return math.Pow(share, float64(run)) <= allFailChance
}

// checkRateLimits finds that the server's rate limits set the pace.
func checkRateLimits(h *history) finding {
	c, f, message := &h.now().Client, &h.failures, ""
	for _, e := range f.all {
		if e.Class == measure.RateLimited {
			message = e.Error
		}
	}
	said := ""
	if message != "" {
		said = "the server says: " + message
	}
	return decide(true, f.limited(), warn("%s reached: %d of %d requests refused", LimitNamed(message), count(f.all, measure.RateLimited), f.total).
		with("let through: %s requests and %s tokens per minute", units.Whole(60*c.RequestsPerS), units.Whole(60*(c.InTokensPerS+c.OutTokensPerS))).
		with("%s", said).
		advise(adviceFor[measure.RateLimited]))
}

// LimitNamed is the limit that the server's refusal names.
func LimitNamed(message string) string {
	m := strings.ToLower(message)
	tokens := strings.Contains(m, "tpm") || strings.Contains(m, "tokens per min")
	requests := strings.Contains(m, "rpm") || strings.Contains(m, "requests per min")
	switch {
	case tokens && !requests:
		return "tokens-per-minute limit"
	case requests && !tokens:
		return "requests-per-minute limit"
	}
	return "rate limit"
}

// checkLoading finds a server that refuses everything because its model is not ready.
func checkLoading(h *history) finding {
	c := &h.now().Client
	refused, answered := 0, false
	var since, lastOK time.Duration
	for _, f := range h.frames {
		for i := range f.Requests {
			switch f.Requests[i].Class {
			case measure.Loading:
				if refused++; refused == 1 {
					since = f.At
				}
			case measure.OK:
				refused, lastOK, answered = 0, f.At, true
			}
		}
	}
	switch {
	case refused == 0, c.InFlight > c.Prefill, answered && h.now().At-lastOK < loadingShortest:
		return absent
	case c.OldestWaiting >= unheardOf:
		return absent // it hangs now
	case c.OK > 0: // it has worked before
		return warn("the server is loading its model again: %s refused", units.Count(refused, "request")).
			asIf(h.now().At-since >= unservedBad, Bad).
			with("%s refused in %s because the model is not ready", units.Count(refused, "request"), units.Elapsed(h.now().At-since)).
			advise("find out why it restarted: check the engine's log, and its host and GPU memory")
	}
	return info("the server is still loading its model").
		asIf(h.now().At-since >= unservedBad, Bad).
		with("%s refused in %s because the model is not ready", units.Count(refused, "request"), units.Elapsed(h.now().At-since)).
		advise("wait: measurement starts with the first successful request")
}

// checkUnserved finds that the server serves nothing although load is requested, where no
// request in flight could say why: all streams wait until they may try again.
func checkUnserved(h *history) finding {
	c := &h.now().Client
	quiet := min(h.quiet(), h.awake(), h.now().At-h.since)
	wait := c.RetryAt - h.now().At
	return decide(true, c.Retrying > 0 && c.InFlight == 0 && quiet >= unservedBad && !h.now().Load.Requested.IsIdle(),
		bad("nothing has been served for %s: %s waiting to try again", units.Elapsed(quiet), units.Count(c.Retrying, "stream")).
			withIf(wait > 0, "the server asked to wait, the next request is sent in %s", units.Elapsed(wait)).
			withIf(c.LastError != "", "the last refusal: %s", c.LastError).
			with("%s", engineAnswers(h.now())).
			advise("find out why the server refuses requests: check its log and its limits"))
}

// FailureAdvice is what helps against a failure.
func FailureAdvice(r *measure.Request) string { return cmp.Or(r.Cause.Advice(), adviceFor[r.Class]) }

// adviceFor is what usually helps against a class of failure.
var adviceFor = map[measure.Class]string{
	measure.Connect:        "check the address and that the server is running",
	measure.TLS:            "check the certificate: give its CA with --ca, or use --insecure for a test",
	measure.HTTP4xx:        "check the API key, the model name and the path",
	measure.RateLimited:    "lower the rate or the concurrency, or raise the limit",
	measure.HTTP5xx:        "check the server's log",
	measure.StreamError:    "check the server's log",
	measure.Truncated:      "look for a proxy that cuts long responses, and check the server's log",
	measure.ConnectionLost: "look for a proxy timeout, and check that the server is still running",
	measure.Timeout:        "check that the server still responds; if it is only slow, raise --idle-timeout",
	measure.Empty:          "responses contain no text: check the model and its stop words",
	measure.ContextLength:  "request shorter prompts or outputs",
	measure.Redirect:       "use the address in the message; if it is a login page, give a key with --api-key",
	measure.BadReply:       "check that the address is an OpenAI-compatible API",
	measure.LocalLimit:     "raise the limit on open files (ulimit -n), or lower the concurrency",
}
