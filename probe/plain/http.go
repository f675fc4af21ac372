package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// OtherHostError is a redirect that leads away from the host that was asked.
type OtherHostError struct{ To string }

func (e *OtherHostError) Error() string { return "redirects to " + e.To }

const maxRedirects = 3

// SameHost follows a few redirects on the host that was asked, such as /metrics to
// /metrics/, and none that would carry a key elsewhere. It is a http.Client's CheckRedirect.
func SameHost(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Host != first.Host || first.Scheme == "https" && req.URL.Scheme != "https" {
		to := *req.URL
		to.User, to.RawQuery, to.Fragment = nil, "", "" // which may hold a key
		return &OtherHostError{to.String()}
	}
	if len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

// ErrTooLarge is a body over its limit.
var ErrTooLarge = errors.New("too large")

// ReadBody reads the body of a response up to a limit of bytes.
func ReadBody(resp *http.Response, limit int64) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, fmt.Errorf("%w: %d MiB, at most %d", ErrTooLarge, resp.ContentLength>>20, limit>>20)
	}
	var body bytes.Buffer
	if resp.ContentLength > 0 {
		body.Grow(int(resp.ContentLength) + bytes.MinRead) // no growing by halves
	}
	_, err := body.ReadFrom(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(body.Len()) > limit {
		err = fmt.Errorf("%w: over %d MiB", ErrTooLarge, limit>>20)
	}
	return body.Bytes(), err
}

// MessageEndings end the folded names under which servers write what went wrong, the most
// usual first.
var MessageEndings = []string{"message", "msg", "detail", "description", "faultstring", "reason", "title", "exception"}

// Folded appends a name without the marks of its style: error_msg and errMsg are one.
func Folded(to []byte, name string) []byte {
	for _, ch := range []byte(name) {
		if ch >= 'A' && ch <= 'Z' {
			ch += 'a' - 'A'
		}
		if ch != '_' && ch != '-' {
			to = append(to, ch)
		}
	}
	return to
}

// ErrorMessage returns the most useful line of an error body: the message in a JSON error,
// the title of a web page, or the text itself.
func ErrorMessage(body []byte) string {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") {
		return pageWords(text)
	}
	var doc any
	if json.Unmarshal(body, &doc) == nil {
		if message := messageIn(doc); message != "" {
			return message
		}
	}
	return text
}

// messageIn finds the message in an error, which is a text, an object or a list of them.
func messageIn(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return messageIn(v[0])
		}
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		for _, ending := range append([]string{"error", "errors", "fault"}, MessageEndings...) {
			for _, name := range names {
				if !bytes.HasSuffix(Folded(nil, name), []byte(ending)) {
					continue
				}
				if message := messageIn(v[name]); message != "" {
					return place(v["loc"]) + message
				}
			}
		}
	}
	return ""
}

// place names the field that FastAPI complains about: its message leaves it out.
func place(loc any) string {
	if path, ok := loc.([]any); ok && len(path) > 0 {
		return fmt.Sprint(path[len(path)-1], ": ")
	}
	return ""
}

var (
	headline = regexp.MustCompile(`(?is)<(?:title|message|faultstring|h1)\b[^>]*>\s*([^<]+)`)
	xmlPage  = regexp.MustCompile(`^<\?xml|(?i)<message\b|<faultstring\b`)
)

// pageWords returns the title of a web page, or the message of an XML document.
func pageWords(page string) string {
	what := "an HTML page"
	if xmlPage.MatchString(page) {
		what = "an XML document"
	}
	if found := headline.FindStringSubmatch(page); found != nil {
		return what + ": " + strings.TrimSpace(found[1])
	}
	return what
}
