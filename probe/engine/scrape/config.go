package scrape

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"sonde/probe/plain"
)

// Config says where the engine is and how to connect to it.
type Config struct {
	Base       string       // root URL, without /v1
	ModelsURL  string       // the model list; "" = Base/v1/models, on 404 Base/models
	MetricsURL string       // "" = find it, "off" = none, else URL or host:port; without a path /metrics is meant
	Model      string       // model to ask for; "" = the first in the list
	Client     *http.Client // redirects are followed on the same host only, whatever it says
	// Header holds credentials and extra headers. They go to the model list and to
	// probes; to a metrics page only after a 401 or 403, and only on the same host.
	// A Host in it is the name of the server on every call under Base.
	Header   http.Header
	KeyFrom  string        // the place that the key in Header came from, in words such as "--api-key"; "" = not known
	Query    string        // kept on every call to Base, without "?"
	Interval time.Duration // between scrapes; 0 = 1 s
}

// metricsOff switches the search for a metrics page off.
const metricsOff = "off"

// at returns the URL of a path under the base, without the query.
func (c Config) at(path string) string { return strings.TrimRight(c.Base, "/") + path }

// rootAt returns the URL of a path that is not part of the OpenAI-compatible API:
// KServe and others put that below /openai, and their metrics above it.
func (c Config) rootAt(path string) string {
	return strings.TrimSuffix(strings.TrimRight(c.Base, "/"), "/openai") + path
}

// givenMetrics completes the metrics address that the user gave.
func (c Config) givenMetrics() string {
	u, ok := plain.PageURL(c.MetricsURL)
	if !ok {
		return c.MetricsURL // which the request will refuse
	}
	return u.String()
}

// withQuery adds the query that the user wants on every call, unless the address
// has one of its own or is not of the same server.
func (c Config) withQuery(address string) string {
	if c.Query == "" || strings.Contains(address, "?") || !c.underBase(address) {
		return address
	}
	return address + "?" + c.Query
}

func (c Config) underBase(address string) bool {
	return strings.HasPrefix(address, c.rootAt("/"))
}

// hostHeader is the one header that names the server that a request is for: net/http
// takes it from elsewhere.
const hostHeader = "Host"

// keyAllowed reports whether the user's credentials may go to an address: only to
// the host they were given for, and never from TLS to plain text.
func (c Config) keyAllowed(address string) bool {
	base, err := url.Parse(c.Base)
	if err != nil {
		return false
	}
	to, err := url.Parse(address)
	if err != nil {
		return false
	}
	return strings.EqualFold(base.Hostname(), to.Hostname()) && (base.Scheme == to.Scheme || to.Scheme == "https")
}

// shown is an address fit for a message: without query and password, which may
// hold a key.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "that address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// hide blanks the user's credentials in words that a server may have chosen.
func (c Config) hide(text string) string {
	return plain.SecretsOf(c.Header, c.Base, c.MetricsURL, "?"+c.Query).Hide(text)
}

// credentials names the credentials that the server was given, for the middle of a
// sentence; "" if there are none.
func (c Config) credentials() string {
	if c.KeyFrom != "" {
		return "the key from " + c.KeyFrom
	}
	sent := http.Request{Header: c.Header}
	if _, _, ok := sent.BasicAuth(); ok {
		return "the given user and password"
	}
	for name := range c.Header {
		name = strings.ToLower(name)
		for _, mark := range []string{"auth", "key", "token", "cookie"} {
			if strings.Contains(name, mark) {
				return "the key in the header " + name
			}
		}
	}
	return ""
}
