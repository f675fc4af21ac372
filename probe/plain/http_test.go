package plain

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestErrorMessage(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"no such model","type":"x"}}`:                         "no such model",
		`{"error":"no such model"}`:                                                "no such model",
		`{"detail":[{"msg":"field required"}]}`:                                    "field required",
		`{"status":500,"error":"Internal Server Error","message":"no such model"}`: "no such model",
		`{"errors":["first","second"]}`:                                            "first",
		`{"errMsg":"no such model","errCode":7}`:                                   "no such model",
		`{"detail":[{"loc":["body","n"],"msg":"too big"}]}`:                        "n: too big",
		`{"message":{"detail":[{"loc":["body","n"],"msg":"too big"}]}}`:            "n: too big",
		`{"status":"ok"}`:                                `{"status":"ok"}`,
		"<html><title> Sign in </title></html>":          "an HTML page: Sign in",
		"<?xml version='1.0'?><Message>denied</Message>": "an XML document: denied",
		" just text \n":                                  "just text",
		`{"error":`:                                      `{"error":`,
	} {
		if got := ErrorMessage([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestSameHost(t *testing.T) {
	request := func(address string) *http.Request {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u}
	}
	first := []*http.Request{request("https://h/metrics")}
	if err := SameHost(request("https://h/metrics/"), first); err != nil {
		t.Errorf("the same host: %v", err)
	}
	for _, to := range []string{"https://other/?key=secret", "http://h/metrics"} {
		err := SameHost(request(to), first)
		var other *OtherHostError
		if !errors.As(err, &other) || strings.Contains(other.To, "secret") {
			t.Errorf("%s: %v", to, err)
		}
		if f := Explain("h", err, time.Second); f.Kind != Redirected || f.String() != "h redirects to "+other.To+": give that address" {
			t.Errorf("%s: %v", to, f)
		}
	}
	if err := SameHost(request("https://h/5"), append(first, first[0], first[0], first[0])); !errors.Is(err, http.ErrUseLastResponse) {
		t.Errorf("redirects without end: %v", err)
	}
}

func TestReadBody(t *testing.T) {
	for length, want := range map[int64]string{8: "too large: 0 MiB, at most 0", -1: "too large: over 0 MiB"} {
		_, err := ReadBody(&http.Response{ContentLength: length, Body: io.NopCloser(strings.NewReader("12345678"))}, 7)
		if !errors.Is(err, ErrTooLarge) || err.Error() != want {
			t.Errorf("%d: %v", length, err)
		}
	}
	got, err := ReadBody(&http.Response{ContentLength: 8, Body: io.NopCloser(strings.NewReader("12345678"))}, 8)
	if err != nil || string(got) != "12345678" {
		t.Errorf("%q, %v", got, err)
	}
}
