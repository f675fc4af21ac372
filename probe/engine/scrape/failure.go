package scrape

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"sonde/probe/measure"
)

// ListError says why the model list cannot be had. Class is one of the failure
// classes of requests: connect, tls, timeout, redirect, http_4xx, rate_limited,
// http_5xx, loading, bad_reply; or cancelled.
type ListError struct {
	Class measure.Class
	Says  string // one sentence with the way out
	// Status is the HTTP status of the answer, 0 if there was none.
	Status int
}

func (e *ListError) Error() string { return e.Says }

// explainDirect puts a failed exchange into a class and a sentence. What a server
// or the HTTP client says in it may repeat a key, which is hidden.
func (f fetcher) explainDirect(address string, err error, timeout time.Duration) (class measure.Class, says string) {
	where := shown(address)
	host := hostOf(address)
	var (
		other *otherHostError
		dns   *net.DNSError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return measure.Cancelled, "cancelled while asking " + where
	case errors.As(err, &other):
		return measure.Redirect, fmt.Sprintf("%s redirects to %s: give that address", where, f.config.hide(other.to))
	case errors.Is(err, errTooLarge):
		return measure.BadReply, fmt.Sprintf("%s is refused: %v", where, err)
	case errors.As(err, &dns):
		return measure.Connect, fmt.Sprintf("host %s is not known: check the name", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return measure.Connect, fmt.Sprintf("nothing listens at %s (connection refused): is the server up, is the port right?", host)
	}
	if says := explainTLS(host, err); says != "" {
		return measure.TLS, says
	}
	if isTimeout(err) {
		return measure.Timeout, fmt.Sprintf("no answer from %s within %v", where, timeout)
	}
	return measure.Connect, fmt.Sprintf("cannot reach %s: %s", host, f.config.hide(cause(err).Error()))
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// cause strips the URL, which may hold a key, from an error of the HTTP client.
func cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "that address"
	}
	return u.Host
}

// statusClass names the failure class of an HTTP status that is no success.
func statusClass(status int) measure.Class {
	switch {
	case status == http.StatusTooManyRequests:
		return measure.RateLimited
	case status >= 500:
		return measure.HTTP5xx
	case status >= 400:
		return measure.HTTP4xx
	case status >= 300:
		return measure.Redirect
	}
	return measure.BadReply
}
