package config

import (
	"net/url"
	"strings"
	"testing"
)

func TestNormalURL(t *testing.T) {
	for given, want := range map[string]string{
		// as given
		"http://h:8000":                     "http://h:8000",
		"http://h:8000/":                    "http://h:8000/",
		"http://h:8000/v1":                  "http://h:8000/v1",
		"http://h:8000/v1/":                 "http://h:8000/v1/",
		"http://h:8000/v1/chat/completions": "http://h:8000/v1/chat/completions",
		"http://[::1]:8000/v1":              "http://[::1]:8000/v1",
		"https://x/openai/deployments/d?api-version=2024-06-01": "https://x/openai/deployments/d?api-version=2024-06-01",
		"https://h/base/path":  "https://h/base/path",
		"https://u:p@h:1/a":    "https://u:p@h:1/a",
		"HTTPS://Host/":        "HTTPS://Host/",
		"http://h/a:b:c?d=::1": "http://h/a:b:c?d=::1",
		// completed
		"h:8000":                   "http://h:8000",
		"gpu-box":                  "http://gpu-box",
		"localhost:8000/v1?x=y":    "http://localhost:8000/v1?x=y",
		"10.0.0.1:30000":           "http://10.0.0.1:30000",
		"::1":                      "http://[::1]",
		"::1:8000":                 "http://[::1]:8000",
		"http://::1:8000/v1":       "http://[::1]:8000/v1",
		"[::1]:8000":               "http://[::1]:8000",
		"[::1]":                    "http://[::1]",
		"2001:db8::5":              "http://[2001:db8::5]",
		"2001:db8::5:30000":        "http://[2001:db8::5]:30000",
		"fe80::1%eth0":             "http://[fe80::1%25eth0]",
		"http://u:p@fe80::a/v1":    "http://u:p@[fe80::a]/v1",
		"u:p@h:1":                  "http://u:p@h:1",
		"2001:db8:0:0:0:0:0:1:443": "http://[2001:db8::1]:443",
	} {
		got, err := NormalURL(given)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", given, got, err, want)
		}
	}
}

func TestNormalURLRefuses(t *testing.T) {
	for given, want := range map[string]string{
		"ftp://h":             "must be an http:// or https:// address",
		"unix:///tmp/x":       "must be an http:// or https:// address",
		"file:///etc/passwd":  "must be an http:// or https:// address",
		"http:/h":             "needs two slashes",
		"http:h":              "needs two slashes",
		"https:":              "needs two slashes",
		"http://":             "has no host",
		"http:///v1":          "has no host",
		"http://:8000":        "has no host",
		":8000":               "has no host",
		"/v1":                 "has no host",
		"http://u:p@":         "has no host",
		"http://h:":           "has a colon without a port",
		"http://h:0":          "must have a port from 1 to 65535",
		"http://h:65536":      "must have a port from 1 to 65535",
		"http://h:port":       "is not a valid address",
		"http://[::1":         "is not a valid address",
		"http://[h]:1":        "is not a valid address",
		"http://[1.2.3.4]:80": "is not a valid address",
		"a:b:c":               "must name a host and at most one port",
		"http://h:1:2":        "must name a host and at most one port",
		"2001:db8::5:8000":    "needs brackets around the IPv6 address",
		"http://h h":          "must not contain spaces",
		"h:1\t":               "must not contain spaces",
		"h\x00:1":             "must not contain spaces or control characters",
	} {
		if got, err := NormalURL(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", given, got, err, want)
		}
	}
}

// Whatever is accepted can be used as it is, and is left alone the second time.
func FuzzNormalURL(f *testing.F) {
	for _, s := range []string{"h:1", "::1:8000", "http://u:p@[fe80::1%25eth0]:1/a?b#c", "http://::1", "[::]", "a@b@c", "%", "http://h?//"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		full, err := NormalURL(s)
		if err != nil {
			return
		}
		u, err := url.Parse(full)
		if err != nil || u.Hostname() == "" || !strings.HasPrefix(strings.ToLower(full), "http") {
			t.Errorf("%q became %q: %v", s, full, err)
		}
		if again, err := NormalURL(full); err != nil || again != full {
			t.Errorf("%q became %q, then %q, %v", s, full, again, err)
		}
	})
}
