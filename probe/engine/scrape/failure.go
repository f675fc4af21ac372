package scrape

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sonde/probe/api/wire"
	"sonde/probe/measure"
	"sonde/probe/plain"
)

// ListError says why there is no model list. Class is one of the failure classes of
// requests: connect, tls, timeout, redirect, http_4xx, rate_limited, http_5xx, loading,
// bad_reply; or cancelled.
type ListError struct {
	Class measure.Class
	Says  string // one sentence, with what to do about it
	// Status is the HTTP status of the answer, 0 if there was none.
	Status int
}

func (e *ListError) Error() string { return e.Says }

// explain puts a failed exchange into a class and a sentence that names the proxy in
// the way, if there is one. What a server or the HTTP client says in it may repeat a
// key, which is hidden.
func (f fetcher) explain(address string, err error, timeout time.Duration) (class measure.Class, says string) {
	proxy, settings := f.proxyOf(address)
	if settings != nil { // the error of net/http may repeat a password
		return measure.Connect, wire.ErrProxySettings.Error()
	}
	var op *net.OpError
	if proxy != "" && errors.As(err, &op) && op.Op == "proxyconnect" {
		failed := plain.Explain("the proxy "+proxy, err, timeout)
		failed.Do = "check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY; " + aroundProxy(address)
		return classes[failed.Kind], f.config.hide(failed.String())
	}
	failed := plain.Explain(hostOf(address), err, timeout)
	if slices.Contains([]plain.FailureKind{plain.TimedOut, plain.Redirected, plain.TooLarge}, failed.Kind) { // which page does so matters
		failed = plain.Explain(shown(address), err, timeout)
	}
	class, says = classes[failed.Kind], f.config.hide(failed.String())
	switch why := plain.Cause(err).Error(); {
	case proxy == "" || class == measure.Cancelled:
		return class, says
	case class != measure.Connect:
		return class, says + through(proxy)
	case why == http.StatusText(http.StatusProxyAuthRequired):
		return class, proxyWantsUser(proxy)
	default:
		return class, fmt.Sprintf("no connection to %s through the proxy %s: %s; %s", hostOf(address), proxy, f.config.hide(why), aroundProxy(address))
	}
}

// classes of failed exchanges.
var classes = map[plain.FailureKind]measure.Class{
	plain.Unreachable: measure.Connect, plain.Cancelled: measure.Cancelled, plain.TimedOut: measure.Timeout,
	plain.BadTLS: measure.TLS, plain.Redirected: measure.Redirect, plain.TooLarge: measure.BadReply,
}

// refusal explains a model list that was answered with a status other than 200.
func refusal(a answer) error {
	e := &ListError{Class: measure.StatusClass(a.status), Status: a.status}
	switch {
	case a.status == http.StatusProxyAuthRequired && a.proxy != "":
		e.Says = proxyWantsUser(a.proxy)
		return e
	case a.needsKey():
		e.Says = keyRefusal(a, "give --api-key")
		return e
	case a.status == http.StatusNotFound:
		e.Says = fmt.Sprintf("no model list at %s (404): is this the address of an OpenAI-compatible server?", shown(a.url))
	case a.loading():
		e.Class = measure.Loading
		e.Says = fmt.Sprintf("%s is still loading its model (503): wait until it is up", hostOf(a.url))
	default:
		status := strings.TrimSpace(fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)))
		e.Says = fmt.Sprintf("%s answers %s: check the server's log", shown(a.url), status)
	}
	e.Says += through(a.proxy)
	return e
}

// keyRefusal explains a 401 or 403: who refuses, and what was refused. keyless is
// what to do if no key was given.
func keyRefusal(a answer, keyless string) string {
	where := shown(a.url)
	if a.status == http.StatusForbidden && a.proxy != "" {
		server := "the server wants a key: " + keyless
		if a.given != "" {
			server = "the server refuses " + a.given
		}
		return fmt.Sprintf("%s, requested through the proxy %s, is forbidden (403): the proxy refuses it (%s), or %s", where, a.proxy, aroundProxy(a.url), server)
	}
	says := fmt.Sprintf("%s wants a key (%d): %s", where, a.status, keyless)
	switch {
	case a.withheld:
		says = fmt.Sprintf("%s wants a key (%d), and the given one is for another host: give an address that needs none with --metrics", where, a.status)
	case a.given != "" && a.status == http.StatusForbidden:
		says = fmt.Sprintf("%s refuses %s (403): is it allowed to read this?", where, a.given)
	case a.given != "":
		says = fmt.Sprintf("%s refuses %s (401): is it the right one for this server?", where, a.given)
	}
	return says + through(a.proxy)
}

// loading reports whether the server is still loading its model: it answers every request
// this way until then.
func (a answer) loading() bool {
	return a.status == http.StatusServiceUnavailable && bytes.Contains(bytes.ToLower(a.body), []byte("loading"))
}

// proxyOf returns host:port of the proxy for an address; "" for none. The error means
// that the environment's settings cannot be read.
func (f fetcher) proxyOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", nil
	}
	choose := func(req *http.Request) (*url.URL, error) { return wire.ProxyFor(req.URL) }
	if t, ok := f.client.Transport.(*http.Transport); ok { // a test's
		choose = t.Proxy
	}
	if choose == nil {
		return "", nil
	}
	proxy, err := choose(&http.Request{URL: u})
	if proxy == nil || err != nil {
		return "", err
	}
	return proxy.Host, nil
}

// answeringProxy is the proxy that may have answered in the server's place. Behind
// TLS it only passes on what it cannot read.
func (f fetcher) answeringProxy(address string) string {
	if !strings.HasPrefix(address, "http:") {
		return ""
	}
	proxy, _ := f.proxyOf(address) // an error would have ended the call
	return proxy
}

func proxyWantsUser(proxy string) string {
	return fmt.Sprintf("the proxy %s wants a user and a password (407): %s", proxy, wire.ProxyUser)
}

// through ends a sentence about what came through a proxy; "" without one.
func through(proxy string) string {
	if proxy == "" {
		return ""
	}
	return "; requested through the proxy " + proxy
}

// aroundProxy says how to bypass a proxy that should not be used for an address.
func aroundProxy(address string) string {
	host := "that host"
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return wire.AroundProxy(host)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "that address"
	}
	return u.Host
}
