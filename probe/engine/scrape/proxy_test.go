package scrape

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"sonde/probe/api/wire"
)

// behindProxy detects the engine at base through a proxy with a password.
func behindProxy(t *testing.T, base, proxy string, header http.Header) *ListError {
	t.Helper()
	u, err := url.Parse("http://user:" + proxyPassword + "@" + proxy)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Detect(t.Context(), Config{
		Base: base, Header: header,
		Client: &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true}},
	})
	var failed *ListError
	if !errors.As(err, &failed) {
		t.Fatalf("err = %v, want a *ListError", err)
	}
	return failed
}

const proxyPassword = "proxy-password"

// Nobody is at this address, and no name server knows it.
const far = "192.0.2.2:8000"

func TestTheProxyInTheWayIsNamed(t *testing.T) {
	withKey := http.Header{"Authorization": {"Bearer K"}}
	tests := []struct {
		name, base  string
		status      int
		header      http.Header
		class, says string
	}{
		{"forbidden", "http://" + far, 403, nil, "http_4xx",
			"http://192.0.2.2:8000/v1/models, requested through the proxy PROXY, is forbidden (403): the proxy refuses it (NO_PROXY=192.0.2.2 bypasses it), or the server wants a key: give --api-key"},
		{"forbidden with a key", "http://" + far, 403, withKey, "http_4xx",
			"http://192.0.2.2:8000/v1/models, requested through the proxy PROXY, is forbidden (403): the proxy refuses it (NO_PROXY=192.0.2.2 bypasses it), or the server refuses the key in the header authorization"},
		{"no key", "http://" + far, 401, nil, "http_4xx", "http://192.0.2.2:8000/v1/models wants a key (401): give --api-key; requested through the proxy PROXY"},
		{"gateway", "http://" + far, 502, nil, "http_5xx", "http://192.0.2.2:8000/v1/models answers 502 Bad Gateway: check the server's log; requested through the proxy PROXY"},
		{"no user", "http://" + far, 407, nil, "http_4xx", "the proxy PROXY wants a user and a password (407): write them into HTTP_PROXY and HTTPS_PROXY"},
		{"its own page", "http://" + far, 200, nil, "bad_reply", "http://192.0.2.2:8000/v1/models answers HTML, not JSON: is this the address of an OpenAI-compatible server?; requested through the proxy PROXY"},
		{"CONNECT refused", "https://" + far, 403, nil, "connect", "no connection to 192.0.2.2:8000 through the proxy PROXY: Forbidden; NO_PROXY=192.0.2.2 bypasses it"},
		{"CONNECT without a user", "https://" + far, 407, nil, "connect", "the proxy PROXY wants a user and a password (407): write them into HTTP_PROXY and HTTPS_PROXY"},
		{"no TLS behind it", "https://" + far, 200, nil, "tls", "192.0.2.2:8000 does not speak TLS: use http://; requested through the proxy PROXY"},
	}
	for _, tt := range tests {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodConnect && tt.status == http.StatusOK {
				answerInPlainText(w)
				return
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, "<html>")
		}))
		host := strings.TrimPrefix(proxy.URL, "http://")
		failed := behindProxy(t, tt.base, host, tt.header)
		if says := strings.ReplaceAll(failed.Says, host, "PROXY"); string(failed.Class) != tt.class || says != tt.says {
			t.Errorf("%s: %s: %s\nwant %s: %s", tt.name, failed.Class, says, tt.class, tt.says)
		}
		proxy.Close()
	}
}

// answerInPlainText is a tunnel to a server that does not speak TLS.
func answerInPlainText(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	_, _ = conn.Read(make([]byte, 1)) // the client's first record
	_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
}

func TestADeadProxyIsNamed(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	want := "connection refused by the proxy " + proxy + ": check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY; NO_PROXY=192.0.2.2 bypasses it"
	for _, base := range []string{"http://" + far, "https://" + far} {
		if failed := behindProxy(t, base, proxy, nil); failed.Class != "connect" || failed.Says != want {
			t.Errorf("%s: %s: %s\nwant %s", base, failed.Class, failed.Says, want)
		}
	}
}

// The settings of the environment hold a password, which their error repeats.
func TestUnreadableProxySettings(t *testing.T) {
	transport := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		return nil, errors.New(`invalid proxy address "http://user:` + proxyPassword + `@%zz"`)
	}}
	_, err := Detect(t.Context(), Config{Base: "http://" + far, Client: &http.Client{Transport: transport}})
	if want := wire.ErrProxySettings.Error(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
