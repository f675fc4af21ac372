package scrape

import (
	"net/http"
	"net/url"
	"strings"

	"sonde/probe/plain"
)

// hide blanks what a server may repeat of the user's credentials in its own words.
func (c Config) hide(text string) string {
	return plain.Hide(text, c.secrets())
}

// secrets are the values that went to the server and belong into no message.
func (c Config) secrets() []string {
	var all []string
	for name, values := range c.Header {
		if name == hostHeader {
			continue
		}
		for _, v := range values {
			_, behindScheme, _ := strings.Cut(v, " ") // as in "Bearer KEY"
			all = append(all, v, strings.TrimSpace(behindScheme))
		}
	}
	sent := http.Request{Header: c.Header}
	if _, password, ok := sent.BasicAuth(); ok {
		all = append(all, password)
	}
	all = append(all, queryValues(c.Query)...)
	for _, address := range []string{c.Base, c.MetricsURL} {
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		password, _ := u.User.Password()
		all = append(all, u.User.Username(), password)
		all = append(all, queryValues(u.RawQuery)...)
	}
	return all
}

// queryValues are the values of a query as they are written and as they are meant,
// without the version, which gateways are asked for in the open.
func queryValues(query string) []string {
	var all []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, named := strings.Cut(pair, "=")
		if !named {
			value = name
		}
		if name == "api-version" {
			continue
		}
		all = append(all, value)
		if meant, err := url.QueryUnescape(value); err == nil {
			all = append(all, meant)
		}
	}
	return all
}

// credentials names what the server was given to know the user by, in the middle of
// a sentence; "" if nothing was given.
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
