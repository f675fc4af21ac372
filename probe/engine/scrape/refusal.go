package scrape

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"sonde/probe/measure"
)

// refusal explains a model list that was answered with another status than 200.
func refusal(a answer) error {
	e := &ListError{Class: statusClass(a.status), Status: a.status}
	where := shown(a.url)
	switch {
	case a.status == http.StatusProxyAuthRequired && a.proxy != "":
		e.Says = proxyWantsUser(a.proxy)
		return e
	case a.needsKey():
		e.Says = keyRefusal(a, "give --api-key")
		return e
	case a.status == http.StatusNotFound:
		e.Says = fmt.Sprintf("no model list at %s (404): is this the address of an OpenAI-compatible server?", where)
	case a.loading():
		e.Class = measure.Loading
		e.Says = fmt.Sprintf("%s is still loading its model (503): wait until it is up", hostOf(a.url))
	default:
		status := strings.TrimSpace(fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)))
		e.Says = fmt.Sprintf("%s answers %s: look into the server's log", where, status)
	}
	e.Says += through(a.proxy)
	return e
}

// keyRefusal explains a 401 or 403: who refuses, and what was refused. keyless is
// the way out if nothing was given.
func keyRefusal(a answer, keyless string) string {
	where := shown(a.url)
	if a.status == http.StatusForbidden && a.proxy != "" {
		server := "the server wants a key: " + keyless
		if a.given != "" {
			server = "the server refuses " + a.given
		}
		return fmt.Sprintf("%s, asked through the proxy %s, is forbidden (403): the proxy refuses it (%s), or %s", where, a.proxy, aroundProxy(a.url), server)
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

// loading tells that a server answers everything in this way until its model is up.
func (a answer) loading() bool {
	return a.status == http.StatusServiceUnavailable && bytes.Contains(bytes.ToLower(a.body), []byte("loading"))
}
