package diagnose

import (
	"fmt"
	"math"
	"slices"
	"time"

	"sonde/probe/measure"
)

// allFail finds that nothing works any more: not by the mean of the window, but
// by the requests that ended last.
type allFail struct {
	run     []endedRequest // the failures since the last success
	since   time.Duration  // age of the first of them
	always  bool           // there was no success before
	class   measure.Class  // of the newest
	message string
}

func (r *allFail) check(h *history) outcome {
	const fewest = 3
	ended := h.ended()
	first := len(ended)
	for first > 0 && ended[first-1].Class != measure.OK {
		first--
	}
	r.run, r.always = ended[first:], first == 0
	if len(r.run) == 0 {
		return absent
	}
	r.since = h.now().At - r.run[0].at
	switch c := &h.now().Client; {
	case c.InFlight > c.Prefill && h.quiet() < h.usual.gapLimit(0) && !r.midStream():
		return absent // a stream is getting tokens
	case len(r.run) < fewest || !r.always && (r.since < time.Second || !unlikely(ended[:first], len(r.run))):
		return unclear
	}
	r.newest()
	return holds
}

// midStream tells that the failures came after tokens: then tokens do not show
// that anything works.
func (r *allFail) midStream() bool {
	for i := range r.run {
		if r.run[i].Chunks == 0 {
			return false
		}
	}
	return true
}

// unlikely tells that so many failures in a row are no chance, given how often
// requests failed before: from the first failure on, because the calm before a
// trouble that lets some requests through says nothing about its share.
func unlikely(before []endedRequest, run int) bool {
	const chance = 0.001
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
	return math.Pow(share, float64(run)) <= chance
}

// newest finds the cause that holds now: the most frequent class of the last two
// seconds of failures. The cause may have changed since the first.
func (r *allFail) newest() {
	const now = 2 * time.Second
	n := map[measure.Class]int{}
	last := r.run[len(r.run)-1].at
	for i := len(r.run) - 1; i >= 0 && r.run[i].at > last-now; i-- {
		q := r.run[i].Request
		if n[q.Class]++; r.class == measure.OK || n[q.Class] > n[r.class] {
			r.class = q.Class
		}
	}
	for i := len(r.run) - 1; i >= 0; i-- {
		if r.run[i].Class == r.class {
			r.message = r.run[i].Error
			return
		}
	}
}

func (r *allFail) verdict() Verdict {
	says := "every request fails: "
	if !r.always {
		says = fmt.Sprintf("every request since %s ago fails: ", wholeSeconds(r.since))
	}
	same := 0
	for i := range r.run {
		if r.run[i].Class == r.class {
			same++
		}
	}
	return Verdict{
		Severity: Bad, Text: says + quote(r.class, r.message),
		Evidence: []string{fmt.Sprintf("%d in a row, %d of them %s", len(r.run), same, r.class)},
		Advice:   adviceFor[r.class],
	}
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
