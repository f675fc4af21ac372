package api

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sonde/probe/api/wire"
	"sonde/probe/measure"
	"sonde/probe/plain"
)

// failure is why a request did not succeed. The message may be a server's: it is
// made safe when the request's record is settled.
type failure struct {
	class   measure.Class
	message string
}

func (f *failure) Error() string { return string(f.class) + ": " + f.message }

func fail(class measure.Class, message string) *failure {
	return &failure{class: class, message: message}
}

// refusal is an error that a reply holds, in the server's words.
type refusal struct {
	is      bool
	message string
	class   measure.Class // "" if neither code nor words say more than that it is an error
}

// findRefusal finds an error in any of the forms that servers use, also under status 200.
func (c *chunk) findRefusal() refusal {
	for _, m := range c.extra {
		switch v, name := m.value, string(plain.Folded(nil, m.name)); {
		case name == "error" || name == "errors" || name == "fault" || name == "exception":
			if v.says() {
				return refusalOf(v)
			}
		case name == "object": // "error"
			return refusalOf(c.data)
		case name == "detail":
			if !c.answers && v.says() {
				return refusalOf(v)
			}
		case strings.HasPrefix(name, "err"): // error_code, errmsg, errorMessage, …
			if v.isFailure() {
				return refusalOf(c.data)
			}
		case name == "success":
			if string(v) == "false" {
				return refusalOf(c.data)
			}
		case strings.HasSuffix(name, "resp") || name == "header" || !c.answers && (name == "response" || name == "result" || name == "data"):
			if inner := v.get("error"); inner.says() {
				return refusalOf(inner)
			}
			if _, says := plain.MessageIn(v); says && v.member(isCode).isFailure() {
				return refusalOf(v)
			}
		}
	}
	kind := strings.ToLower(c.get("type").string() + c.get("status").string())
	failed := strings.Contains(kind, "error") || strings.Contains(kind, "fail") || c.data.member(isCode).isFailure()
	if n, number := c.get("status").number(); number {
		failed = failed || n < 200 || n > 299
	}
	if !c.answers && failed {
		if _, says := plain.MessageIn(c.data); says {
			return refusalOf(c.data)
		}
	}
	return refusal{}
}

// says reports whether a value holds anything: servers write "error": false, 0, "" or {} to
// say that there is none.
func (v value) says() bool {
	switch string(v) {
	case "", "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}

// isFailure reports whether a code is one of a failure, and not 0, 200 or "success".
func (v value) isFailure() bool {
	switch strings.ToLower(v.string()) {
	case "ok", "success", "succeeded", "true", "none":
		return false
	}
	n, number := v.number()
	return v.says() && (!number || n != 0 && (n < 200 || n > 299))
}

// isCode reports whether a member with that name has the code of a result.
func isCode(name string) bool {
	return strings.HasSuffix(name, "code") || name == "errno" || name == "ret"
}

// member is the first member that says anything and whose folded name matches.
func (v value) member(match func(name string) bool) value {
	c := v.cursor()
	for end := c.enter(); c.more(end); {
		name := string(plain.Folded(nil, string(c.name)))
		if m := c.value(); m.says() && match(name) {
			return m
		}
	}
	return nil
}

// refusalOf reads an error, which is a text, an object or a list of them.
func refusalOf(v value) refusal {
	if c := v.cursor(); len(v) > 0 && v[0] == '[' && c.more(c.enter()) {
		return refusalOf(c.value())
	}
	message, _ := plain.MessageIn(v)
	message = cmp.Or(message, v.get("type").string(), string(v))
	said := strings.Join([]string{message, v.member(isCode).string(), v.get("status").string(), v.get("type").string()}, " ")
	return refusal{true, message, classOfWords(said)}
}

var (
	rateLimit = regexp.MustCompile(`(?i)\b429\b|rate.?limit|throttl|too many requests|quota`)
	noAccess  = regexp.MustCompile(`(?i)\b40[13]\b|api.?(secret.?)?key|unauthori[sz]ed|authenticat|forbidden|permission|access.?denied`)
)

// classOfWords is the class of an error by its code and words; "" if they do not say.
func classOfWords(said string) measure.Class {
	switch {
	case rateLimit.MatchString(said):
		return measure.RateLimited
	case noAccess.MatchString(said):
		return measure.HTTP4xx
	case tooLong.MatchString(said):
		return measure.ContextLength
	}
	return ""
}

// networkFailure names what went wrong below HTTP. idle is the idle time-out.
func networkFailure(ctx context.Context, server string, err error, idle string) *failure {
	tls, isTLS := plain.ExplainTLS(server, err)
	switch {
	case ctx.Err() != nil:
		return fail(measure.Cancelled, "cancelled")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fail(measure.Timeout, "no byte for "+idle)
	case isTLS:
		return fail(measure.TLS, tls.String())
	case errors.Is(err, bufio.ErrTooLong):
		return fail(measure.BadReply, "one line of the stream is over 32 MiB")
	}
	return fail(measure.ConnectionLost, "the connection broke: "+plain.Cause(err).Error())
}

// dialFailure says why no connection to a server was made.
func dialFailure(ctx context.Context, d *wire.Dialer, err error) *failure {
	why := plain.Explain(d.Addr, err, d.Timeout)
	switch {
	case ctx.Err() != nil:
		return fail(measure.Cancelled, "cancelled")
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EADDRNOTAVAIL):
		return fail(measure.LocalLimit, "this machine has no socket left: "+plain.Cause(err).Error()+"; raise 'ulimit -n' or lower the concurrency")
	case errors.Is(err, wire.ErrProxy):
		return fail(measure.Connect, d.ExplainProxy(err).String())
	case why.Kind == plain.BadTLS:
		return fail(measure.TLS, why.String())
	case errors.Is(err, wire.ErrTLS):
		return fail(measure.TLS, strings.TrimPrefix(err.Error(), "TLS: "))
	}
	return fail(measure.Connect, why.What)
}

// statusFailure classifies a response other than 2xx.
func statusFailure(status int, body []byte) *failure {
	message := plain.ErrorMessage(body)
	lower := strings.ToLower(message + " " + string(body[:min(len(body), 400)]))
	class := measure.StatusClass(status)
	switch {
	case status == 503 && (strings.Contains(lower, "loading") || strings.Contains(lower, "starting")):
		class = measure.Loading
	case class == measure.HTTP4xx && tooLong.MatchString(lower):
		class = measure.ContextLength
	}
	return fail(class, message)
}

// tooLong are the words in which engines say that the prompt is too long.
var tooLong = regexp.MustCompile(`(?i)context_length_exceeded|maximum context length|exceed_context_size|exceeds the available context|` +
	`max_model_len|longer than the maximum model length|context size|maximum allowed length|is too long|` +
	`exceeds? (?:the )?max(?:imum)? (?:input |sequence |prompt )?length|prompt.{0,40}exceed.{0,20}context|must have less than \d+ tokens|max_new_tokens.{0,3} must be <=`)

// longestWait bounds what a server can ask for: beyond it the number is a mistake.
const longestWait = 30 * 24 * time.Hour

// retryAfter is how long a refusal asks to wait: Retry-After in seconds or as an HTTP date,
// or the milliseconds that OpenAI and Azure send beside it. Some gateways put the Unix time
// of their next window into Retry-After.
func retryAfter(h http.Header, now time.Time) time.Duration {
	wait := time.Duration(0)
	value := strings.TrimSuffix(strings.TrimSpace(h.Get("Retry-After")), "s")
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		wait = fromSeconds(ms / 1000)
	} else if s, err := strconv.ParseFloat(value, 64); err == nil {
		wait = fromSeconds(s)
		if s > unixTimes {
			wait = fromSeconds(s - float64(now.Unix()))
		}
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return min(max(0, wait), longestWait)
}

// unixTimes are numbers that can only be a time since 1970 in seconds.
const unixTimes = 9e8

// fromSeconds is a wait of at most longestWait.
func fromSeconds(s float64) time.Duration {
	if !(s > 0) { // also not a number
		return 0
	}
	return time.Duration(min(s, longestWait.Seconds()) * float64(time.Second))
}
