package plain

import (
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	secrets := secretsFrom([]string{"sk/abc+def=ghi jklmnop", "short"})
	for in, want := range map[string]string{
		"bad key sk/abc+def=ghi jklmnop.":           "bad key ….",
		"bad key sk%2Fabc%2Bdef%3Dghi%20jklmnop.":   "bad key ….",
		"bad key sk%2fabc%2bdef%3dghi+jklmnop.":     "bad key ….",
		"bad key sk/abc%2Bdef=ghi%20jklmnop.":       "bad key ….",
		"bad key sk%252Fabc%252Bdef=ghi%20jklmnop.": "bad key ….",
		"bad key ***i%20jklmnop.":                   "bad key ***i….",
		"a short word":                              "a short word",
	} {
		if got := secrets.Hide(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := secretsFrom([]string{"günstige Tür"}).Hide("key=g%C3%BCnstige%20T%C3%BCr"); got != "key=…" {
		t.Errorf("%q", got)
	}
}

const benchKey = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz"

func BenchmarkHide(b *testing.B) {
	text := strings.Repeat("Incorrect API key provided: *****wxyz. You can find your key at https://example.com/%2Fkeys. ", 3) + benchKey
	secrets := secretsFrom([]string{benchKey, "Bearer " + benchKey})
	for b.Loop() {
		secrets.Hide(text)
	}
}

func TestPageAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"node:9400":                   "http://node:9400/metrics",
		"http://node:9400":            "http://node:9400/metrics",
		"https://node/":               "https://node/metrics",
		"http://node/gpu?x=1":         "http://node/gpu?x=1",
		"[::1]:9400":                  "http://[::1]:9400/metrics",
		"http://node:9400/a/metrics":  "http://node:9400/a/metrics",
		"ftp://node":                  "",
		":9400":                       "",
		"http://":                     "",
		"node:port/with space in it%": "",
	} {
		u, ok := PageURL(address)
		if ok != (want != "") || ok && u.String() != want {
			t.Errorf("%q gives %v, want %q", address, u, want)
		}
	}
}
