package plain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
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
		return &OtherHostError{Address(req.URL)}
	}
	if len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

// ErrTooLarge is a body or a file over its limit.
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

// ReadFile reads a file up to a limit of bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = ErrTooLarge
	}
	return text, err
}

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
	if message, ok := MessageIn(body); ok {
		return message
	}
	return text
}

// MessageIn returns the message in a JSON error, which is a text, an object or a list of
// them; not ok if there is none.
func MessageIn(doc []byte) (message string, ok bool) {
	var v any
	if json.Unmarshal(doc, &v) != nil {
		return "", false
	}
	message = messageIn(v)
	return message, message != ""
}

// Endings of the folded names under which servers write what went wrong, the most usual
// first: an object with the error, and the words of an error. Where "error" is itself a text,
// Spring writes no more than the status there.
var (
	errorEndings   = []string{"error", "errors", "fault"}
	messageEndings = []string{"message", "msg", "detail", "description", "faultstring", "reason", "title", "exception", "error", "errors"}
)

func messageIn(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return messageIn(v[0])
		}
	case map[string]any:
		return place(v["loc"], cmp.Or(memberMessage(v, errorEndings, false), memberMessage(v, messageEndings, true)))
	}
	return ""
}

// memberMessage finds the message in the members whose names have one of the endings; texts:
// also in those that are text themselves.
func memberMessage(object map[string]any, endings []string, texts bool) string {
	names := slices.Sorted(maps.Keys(object))
	for _, ending := range endings {
		for _, name := range names {
			if _, text := object[name].(string); text && !texts || !bytes.HasSuffix(Folded(nil, name), []byte(ending)) {
				continue
			}
			if message := messageIn(object[name]); message != "" {
				return message
			}
		}
	}
	return ""
}

// place names the field that FastAPI complains about: its message leaves it out.
func place(loc any, message string) string {
	if path, ok := loc.([]any); ok && len(path) > 0 && message != "" {
		return fmt.Sprintf("%v: %s", path[len(path)-1], message)
	}
	return message
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
