package api

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
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
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil:
		return fail(measure.Cancelled, "cancelled")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fail(measure.Timeout, "no byte for "+idle)
	case errors.Is(err, errLineTooLong):
		return fail(measure.BadReply, err.Error())
	case errors.As(err, &dns):
		return fail(measure.Connect, err.Error())
	}
	return fail(measure.ConnectionLost, "the connection broke: "+plainNetError(err))
}

// dialFailure says why no connection was made.
func dialFailure(ctx context.Context, err error) *failure {
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return fail(measure.Cancelled, "cancelled")
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EADDRNOTAVAIL):
		return fail(measure.LocalLimit, "this machine has no socket left: "+plainNetError(err)+"; raise 'ulimit -n' or lower the concurrency")
	case errors.Is(err, wire.ErrProxy):
		return fail(measure.Connect, err.Error())
	case errors.Is(err, wire.ErrTLS):
		if why, ok := plain.ExplainTLS("the server", err); ok {
			return fail(measure.TLS, why.String())
		}
		return fail(measure.TLS, strings.TrimPrefix(err.Error(), "TLS: "))
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return fail(measure.Connect, "no connection within the time-out")
	}
	return fail(measure.Connect, plainNetError(err))
}

// plainNetError drops the "dial tcp 1.2.3.4:5: " that Go puts in front.
func plainNetError(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		if op.Addr != nil {
			return op.Err.Error() + " at " + op.Addr.String()
		}
		return op.Err.Error()
	}
	return err.Error()
}

// statusFailure classifies a response other than 2xx.
func statusFailure(status int, body []byte) *failure {
	message := bodyMessage(body)
	lower := strings.ToLower(message + " " + string(body[:min(len(body), 400)]))
	switch {
	case status >= 300 && status < 400:
		return fail(measure.Redirect, message)
	case status == 429:
		return fail(measure.RateLimited, message)
	case status == 503 && (strings.Contains(lower, "loading") || strings.Contains(lower, "starting")):
		return fail(measure.Loading, message)
	case status >= 500:
		return fail(measure.HTTP5xx, message)
	case isContextLength(lower):
		return fail(measure.ContextLength, message)
	}
	return fail(measure.HTTP4xx, message)
}

// isContextLength recognises "the prompt is too long" in the words of the
// engines; the text is lower case.
func isContextLength(lower string) bool {
	for _, mark := range []string{
		"context_length_exceeded", "maximum context length", "exceed_context_size", "exceeds the available context",
		"max_model_len", "longer than the maximum model length", "context size", "maximum allowed length", "is too long",
	} {
		if strings.Contains(lower, mark) {
			return true
		}
	}
	return false
}

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

// parseRetryAfter reads seconds or an HTTP date.
func parseRetryAfter(value string, now time.Time) time.Duration {
	if value == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		if s <= 0 || s > float64(24*3600) {
			return 0
		}
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
