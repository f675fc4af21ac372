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
}

// findRefusal finds an error in any of the forms that servers use.
func (c *chunk) findRefusal() refusal {
	message, detail := c.get("message"), c.get("detail")
	kind := strings.ToLower(c.get("type").string())
	flat := message != nil && !c.answers && (c.get("code") != nil || strings.Contains(kind, "error"))
	switch err := c.get("error"); {
	case err != nil && string(err) != "false":
		return refusal{true, errorWords(err)}
	case c.get("object") != nil || flat:
		return refusal{true, message.string()}
	case detail != nil && !c.answers:
		return refusal{true, errorWords(detail)}
	}
	return refusal{}
}

// errorWords are the words of an error, which is a text or an object.
func errorWords(v value) string {
	return cmp.Or(v.string(), v.get("message").string(), v.get("type").string(), string(v))
}

// networkFailure names what went wrong below HTTP. idle is the idle time-out.
func networkFailure(ctx context.Context, err error, idle string) *failure {
	switch {
	case ctx.Err() != nil:
		return fail(measure.Cancelled, "cancelled")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fail(measure.Timeout, "no byte for "+idle)
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
		return fail(measure.Connect, err.Error())
	case why.Kind == plain.BadTLS:
		return fail(measure.TLS, why.String())
	case errors.Is(err, wire.ErrTLS):
		return fail(measure.TLS, strings.TrimPrefix(err.Error(), "TLS: "))
	}
	return fail(measure.Connect, why.What)
}

// statusFailure classifies a response other than 2xx.
func statusFailure(status int, body []byte) *failure {
	message := bodyMessage(body)
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
	`max_model_len|longer than the maximum model length|context size|maximum allowed length|is too long`)

// bodyMessage is the most useful line of an error body: the message of a JSON
// error, or the first words of anything else.
func bodyMessage(body []byte) string {
	var d decoder
	if c, ok := d.decode(body); ok && c.refusal.message != "" {
		return c.refusal.message
	}
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") {
		return "an HTML page" + htmlTitle(text)
	}
	return text
}

func htmlTitle(page string) string {
	_, after, ok := strings.Cut(page, "<title>")
	if !ok {
		return ""
	}
	title, _, _ := strings.Cut(after, "<")
	return ": " + strings.TrimSpace(title)
}

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
