package plain

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// shortestSecret is the length from which a value is looked for in a message;
// shorter ones would blank out words.
const shortestSecret = 8

// Secrets are what identifies a user to a server: it must not appear in messages.
type Secrets struct {
	echo *regexp.Regexp // nil if there are none
}

// SecretsOf collects the values in headers and addresses. The name of the server and the
// version of an API, which gateways are asked for openly, are none.
func SecretsOf(header http.Header, addresses ...string) Secrets {
	var all []string
	for name, values := range header {
		if name == "Host" {
			continue
		}
		for _, v := range values {
			_, behindScheme, _ := strings.Cut(v, " ") // as in "Bearer KEY"
			all = append(all, v, strings.TrimSpace(behindScheme))
		}
	}
	sent := http.Request{Header: header}
	if _, password, ok := sent.BasicAuth(); ok {
		all = append(all, password)
	}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		password, _ := u.User.Password()
		all = append(all, u.User.Username(), password)
		all = append(all, queryValues(u.RawQuery)...)
	}
	return secretsFrom(all)
}

// queryValues are the values of a query, both as written and decoded.
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
		if decoded, err := url.QueryUnescape(value); err == nil {
			all = append(all, decoded)
		}
	}
	return all
}

func secretsFrom(all []string) Secrets {
	var whole, ends []string
	for _, secret := range all {
		if len(secret) < shortestSecret {
			continue
		}
		end := len(secret) - shortestSecret
		for !utf8.RuneStart(secret[end]) && end > 0 {
			end--
		}
		whole, ends = append(whole, echoOf(secret)), append(ends, echoOf(secret[end:]))
	}
	if whole == nil {
		return Secrets{}
	}
	return Secrets{regexp.MustCompile(strings.Join(append(whole, ends...), "|"))}
}

// echoOf is a pattern for a secret, any bytes of which may be percent-encoded, even more
// than once (%2F, %252F), in either case. Which characters are encoded differs by server.
func echoOf(secret string) string {
	var pattern strings.Builder
	for _, r := range secret {
		pattern.WriteString("(?:" + regexp.QuoteMeta(string(r)))
		if r == ' ' {
			pattern.WriteString(`|\+`)
		}
		pattern.WriteByte('|')
		for _, b := range []byte(string(r)) {
			fmt.Fprintf(&pattern, "(?i:%%(?:25)*%02x)", b)
		}
		pattern.WriteByte(')')
	}
	return pattern.String()
}

// Hide blanks the secrets that a server echoes, in whole or in part: servers also like to
// show just the end of a refused key.
func (s Secrets) Hide(text string) string {
	if s.echo == nil {
		return text
	}
	return s.echo.ReplaceAllLiteralString(text, "…")
}

// harmlessPair is a query value that may be shown. Gateways have names of their own
// for keys, so that only names that never hold one count; and a value that has
// escapes or a second pair in it ("v=1;key=K") is not read for what it may be.
var harmlessPair = regexp.MustCompile(`^(?i:api-?version|version|v|model|deployment|format|stream|region)=[A-Za-z0-9._:/-]*$`)

// RedactURL removes the user, query values that may be keys and the fragment from an
// address. Text that is not an address ("off") stays.
func RedactURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "…"
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

// Address is a URL without user, query and fragment, which may hold a key.
func Address(u *url.URL) string {
	return Line((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), 200)
}

// PageURL completes the address of a metrics page: HTTP and /metrics unless it says
// otherwise. It is not ok if that is not a usable address.
func PageURL(address string) (page *url.URL, ok bool) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	page, err := url.Parse(address)
	if err != nil || page.Scheme != "http" && page.Scheme != "https" || page.Hostname() == "" {
		return nil, false
	}
	if page.Path == "" || page.Path == "/" {
		page.Path = "/metrics"
	}
	return page, true
}

// redactQuery keeps names and harmless values. A value without a name may be a key too.
func redactQuery(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, named := strings.Cut(pair, "=")
		switch {
		case pair == "" || named && value == "" || harmlessPair.MatchString(pair):
		case named:
			pairs[i] = name + "=…"
		default:
			pairs[i] = "…"
		}
	}
	return strings.Join(pairs, "&")
}
