package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const hidden = "hidden"

// secretName is what names of query values that hold credentials have in them.
var secretName = regexp.MustCompile(`(?i)key|token|secret|pass|pwd|sig|auth|cred|session|jwt|^code$`)

// Redacted is a copy for logs, reports and screens: without the key, header
// values, user parts of addresses and query values that look like credentials.
func (c Config) Redacted() Config {
	if c.APIKey != "" {
		c.APIKey = hidden
	}
	c.Headers = slices.Clone(c.Headers)
	for i := range c.Headers {
		c.Headers[i].Value = hidden
	}
	c.SLO = slices.Clone(c.SLO)
	for _, address := range []*string{&c.URL, &c.Metrics, &c.GPU, &c.Prometheus} {
		*address = redactURL(*address)
	}
	return c
}

// String is the redacted form, so that no accidental print shows a secret.
func (c Config) String() string {
	type plain Config
	return fmt.Sprintf("%+v", plain(c.Redacted()))
}

// GoString is String.
func (c Config) GoString() string { return c.String() }

// redactURL takes the user part, secret query values and the fragment out of an
// address. What is no address ("off") stays.
func redactURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return hidden
	}
	if u.Host == "" {
		return s
	}
	query := redactQuery(u.RawQuery)
	if u.User == nil && u.Fragment == "" && query == u.RawQuery {
		return s
	}
	u.User, u.Fragment, u.RawQuery = nil, "", query
	return u.String()
}

// redactQuery keeps order and spelling of what it leaves in.
func redactQuery(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		raw, _, valued := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(raw)
		if valued && (err != nil || secretName.MatchString(name)) {
			pairs[i] = raw + "=" + hidden
		}
	}
	return strings.Join(pairs, "&")
}
