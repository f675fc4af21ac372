package plain

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// shortestSecret is the length from which a value is looked for in a message;
// shorter ones would blank out words.
const shortestSecret = 8

// Hide blanks the secrets that a server echoes, as they are or percent-encoded, in whole
// or in part. Servers also like to show just the end of a refused key.
func Hide(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) < shortestSecret {
			continue
		}
		end := len(secret) - shortestSecret
		for !utf8.RuneStart(secret[end]) && end > 0 {
			end--
		}
		text = blank(blank(text, secret), secret[end:])
	}
	return text
}

// blank replaces every echo of one secret.
func blank(text, secret string) string {
	var b strings.Builder
	kept := 0 // text before here is in b
	for i := 0; i < len(text); {
		n, ok := echoed(text[i:], secret)
		if !ok {
			i++
			continue
		}
		b.WriteString(text[kept:i] + "…")
		i += n
		kept = i
	}
	if kept == 0 {
		return text
	}
	return b.String() + text[kept:]
}

// echoed returns the length of the secret at the front of text, where any of its bytes may
// be percent-encoded, even more than once (%2F, %252F), in either case. Which characters
// are encoded differs by server.
func echoed(text, secret string) (length int, ok bool) {
	switch {
	case secret == "":
		return 0, true
	case text == "":
		return 0, false
	}
	if c := secret[0]; text[0] == c || c == ' ' && text[0] == '+' {
		if n, ok := echoed(text[1:], secret[1:]); ok {
			return 1 + n, true
		}
	}
	if text[0] != '%' {
		return 0, false
	}
	for end := 3; end <= len(text); end += 2 {
		code := text[end-2 : end]
		if value, err := strconv.ParseUint(code, 16, 8); err == nil && byte(value) == secret[0] {
			if n, ok := echoed(text[end:], secret[1:]); ok {
				return end + n, true
			}
		}
		if code != "25" { // "%" itself, encoded once more
			break
		}
	}
	return 0, false
}

// Secrets are the values in headers and addresses that identify a user to a server: they
// must not appear in messages. The name of the server and the version of an API, which
// gateways are asked for openly, are none.
func Secrets(header http.Header, addresses ...string) []string {
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
	return all
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
