package diagnose

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"sonde/probe/measure"
	"sonde/probe/units"
)

// checkRateLimits finds that the server's limits set the pace.
func checkRateLimits(h *history) (outcome, Verdict) {
	f := countFailures(h)
	refused := f.byClass[measure.RateLimited]
	goesOn := f.goesOn() && (f.recent[measure.RateLimited] > 0 || f.okSince < enough)
	return when(refused >= rateLimitsFewest && goesOn, func() Verdict {
		c, message := &h.now().Client, f.messages[measure.RateLimited]
		v := Verdict{
			Severity: Warn,
			Text:     fmt.Sprintf("%s reached: %d of %d requests refused", limitNamed(message), refused, f.total),
			Evidence: []string{fmt.Sprintf("let through: %s requests and %s tokens per minute",
				units.Whole(60*c.RequestsPerS), units.Whole(60*(c.InTokensPerS+c.OutTokensPerS)))},
			Advice: adviceFor[measure.RateLimited],
		}
		if message != "" {
			v.Evidence = append(v.Evidence, "the server says: "+message)
		}
		return v
	})
}

// limitNamed reads from the server's refusal which limit it was.
func limitNamed(message string) string {
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
func checkLoading(h *history) (outcome, Verdict) {
	c := &h.now().Client
	refused, answered := 0, false
	var lastOK time.Duration
	for _, f := range h.frames {
		for i := range f.Requests {
			switch f.Requests[i].Class {
			case measure.Loading:
				refused++
			case measure.OK:
				refused, lastOK, answered = 0, f.At, true
			}
		}
	}
	switch {
	case refused == 0, c.InFlight > c.Prefill, answered && h.now().At-lastOK < loadingShortest:
		return absent, Verdict{}
	case c.OldestWaiting >= unheardOf:
		return absent, Verdict{} // it hangs now
	}
	v := Verdict{
		Severity: Info, Text: "the server is still loading its model",
		Evidence: []string{fmt.Sprintf("%d requests refused in the last %.0f s because the model is not ready", refused, h.seconds())},
		Advice:   "wait: measuring starts with the first success",
	}
	if c.OK > 0 { // it has worked before
		v.Severity = Warn
		v.Text = fmt.Sprintf("the server is loading its model again: %d requests refused", refused)
		v.Advice = "find out why it restarted: check the engine's log, and the memory of its host and GPU"
	}
	return holds, v
}

// adviceOn is what helps against a failure.
func adviceOn(class measure.Class, cause measure.Cause) string {
	return cmp.Or(cause.Advice(), adviceFor[class])
}

// adviceFor is what usually helps against a class of failure.
var adviceFor = map[measure.Class]string{
	measure.Connect:        "check the address and that the server is running",
	measure.TLS:            "check the certificate: name a CA file, or skip the check for a test",
	measure.HTTP4xx:        "check the key, the model's name and the path",
	measure.RateLimited:    "lower the rate or the concurrency, or raise the limit",
	measure.HTTP5xx:        "check the server's log",
	measure.StreamError:    "check the server's log",
	measure.Truncated:      "look for a proxy that cuts long responses, and check the server's log",
	measure.ConnectionLost: "look for a proxy timeout, and check that the server is still running",
	measure.Timeout:        "check that the server still answers; raise the idle timeout if it is only slow",
	measure.Empty:          "check the model and its stop words: responses hold no text",
	measure.ContextLength:  "request shorter prompts or outputs",
	measure.Redirect:       "give the address that the message names; where that is a login page, give a key with --api-key",
	measure.BadReply:       "check that the address is an OpenAI-compatible API",
	measure.LocalLimit:     "raise the limit of open files, or lower the concurrency",
}
