package api

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"sonde/probe/api/wire"
	"sonde/probe/measure"
)

// environment sets the variables of proxies, and no others.
func environment(t *testing.T, pairs ...string) {
	t.Helper()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		t.Setenv(name, "")
		t.Setenv(strings.ToLower(name), "")
	}
	for i := 0; i < len(pairs); i += 2 {
		t.Setenv(pairs[i], pairs[i+1])
	}
}

func TestWhichProxy(t *testing.T) {
	for _, c := range []struct {
		to, want string
		pairs    []string
	}{
		{"http://h:1", "", nil},
		{"http://h:1", "http://p:2", []string{"HTTP_PROXY", "http://p:2"}},
		{"http://h:1", "http://p:2", []string{"http_proxy", "p:2"}},
		{"https://h", "", []string{"HTTP_PROXY", "http://p:2"}},
		{"https://h", "https://p:2", []string{"HTTPS_PROXY", "https://p:2"}},
		{"http://h:1", "socks5://p:2", []string{"ALL_PROXY", "socks5://p:2"}},
		{"https://h", "socks5h://p:2", []string{"all_proxy", "socks5h://p:2"}},
		{"https://h", "socks5://p:2", []string{"ALL_PROXY", "socks://p:2"}},
		{"https://h", "http://q:3", []string{"ALL_PROXY", "socks://p:2", "HTTPS_PROXY", "http://q:3"}},
		{"http://h:1", "", []string{"ALL_PROXY", "socks5://p:2", "NO_PROXY", "h"}},
		{"http://a.h:1", "", []string{"ALL_PROXY", "socks5://p:2", "no_proxy", ".h"}},
		{"http://127.0.0.1:1", "", []string{"ALL_PROXY", "socks5://p:2"}},
	} {
		environment(t, c.pairs...)
		to, _ := url.Parse(c.to)
		got, err := wire.ProxyFor(to)
		if at := fmt.Sprint(got); err != nil || at != c.want && !(got == nil && c.want == "") {
			t.Errorf("%s with %q: %v, %v, want %q", c.to, c.pairs, got, err, c.want)
		}
	}
	for _, setting := range []string{"socks4://u:secret@p:2", "ftp://u:secret@p:2", "http://u:secret@p:x y"} {
		environment(t, "HTTP_PROXY", setting)
		_, err := wire.ProxyFor(&url.URL{Scheme: "http", Host: "h:1"})
		if !errors.Is(err, wire.ErrProxySettings) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// socksProxy is a SOCKS 5 server (RFC 1928) that leads every name to one address. It
// wants user and password (RFC 1929) if it has them, and refuses with a code other than 0.
func socksProxy(t *testing.T, to, user string, code byte) (at string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSOCKS(c, to, user, code)
		}
	}()
	return listener.Addr().String()
}

func serveSOCKS(c net.Conn, to, user string, code byte) {
	defer c.Close()
	take := func(n int) []byte {
		b := make([]byte, n)
		_, _ = io.ReadFull(c, b)
		return b
	}
	take(int(take(2)[1]))
	if user != "" {
		_, _ = c.Write([]byte{5, 2})
		name := string(take(int(take(2)[1])))
		name += ":" + string(take(int(take(1)[0])))
		if name != user {
			_, _ = c.Write([]byte{1, 1})
			return
		}
		_, _ = c.Write([]byte{1, 0})
	} else {
		_, _ = c.Write([]byte{5, 0})
	}
	take(4)
	take(int(take(1)[0]))
	binary.BigEndian.Uint16(take(2))
	_, _ = c.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
	if code == 0 {
		server, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer server.Close()
		go func() { _, _ = io.Copy(server, c) }()
		_, _ = io.Copy(c, server)
	}
}

// Requests and what is read besides them take the same way through the same proxy.
func TestSOCKS(t *testing.T) {
	plainly := httptest.NewServer(http.HandlerFunc(streaming))
	defer plainly.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(streaming))
	defer secure.Close()
	for _, c := range []struct {
		name, target, setting, user string
		code                        byte
		class                       measure.Class
		says                        string
	}{
		{"HTTP", "http://far.invalid:8000", "ALL_PROXY=socks5://PROXY", "", 0, measure.OK, ""},
		{"TLS", "https://far.invalid", "HTTPS_PROXY=socks5h://PROXY", "", 0, measure.OK, ""},
		{"socks://", "http://far.invalid:8000", "HTTP_PROXY=socks://PROXY", "", 0, measure.OK, ""},
		{"user", "http://far.invalid:8000", "HTTP_PROXY=socks5://u:hidden@PROXY", "u:hidden", 0, measure.OK, ""},
		{"wrong user", "http://far.invalid:8000", "HTTP_PROXY=socks5://u:hidden@PROXY", "u:p", 0, measure.Connect, "the proxy PROXY"},
		{"no user", "http://far.invalid:8000", "HTTP_PROXY=socks5://PROXY", "u:p", 0, measure.Connect, "the proxy PROXY"},
		{"refused", "http://far.invalid:8000", "HTTP_PROXY=socks5://PROXY", "", 4, measure.Connect, "the proxy PROXY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := plainly.Listener.Addr().String()
			if strings.HasPrefix(c.target, "https") {
				to = secure.Listener.Addr().String()
			}
			at := socksProxy(t, to, c.user, c.code)
			name, value, _ := strings.Cut(strings.ReplaceAll(c.setting, "PROXY", "\x00"), "=")
			name, value = strings.ReplaceAll(name, "\x00", "PROXY"), strings.ReplaceAll(value, "\x00", at)
			environment(t, name, value)
			skip := &tls.Config{InsecureSkipVerify: true}
			res := real(t, c.target, func(o *Options) { o.TLS = skip }).Do(context.Background(), Call{Text: "x"}, quiet{})
			if res.Class != c.class || !strings.Contains(res.Error, strings.ReplaceAll(c.says, "PROXY", at)) || strings.Contains(res.Error, "hidden") {
				t.Errorf("%q: %s", res.Class, res.Error)
			}
			other := http.Client{Transport: wire.NewTransport(skip, nil)}
			resp, err := other.Get(c.target)
			if (err == nil) != (c.class == measure.OK) {
				t.Errorf("what is not measured: %v", err)
			}
			if err == nil {
				resp.Body.Close()
			}
		})
	}
}

// A proxy that is spoken to over TLS, for servers with and without.
func TestHTTPSProxy(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(streaming))
	defer secure.Close()
	proxy := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			streaming(w, r)
			return
		}
		server, err := net.Dial("tcp", secure.Listener.Addr().String())
		if err != nil {
			return
		}
		defer server.Close()
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(server, bufio.NewReader(rw)) }()
		_, _ = io.Copy(c, server)
	}))
	defer proxy.Close()
	environment(t, "ALL_PROXY", proxy.URL)
	for _, target := range []string{"http://far.invalid:8000", "https://far.invalid"} {
		client := real(t, target, func(o *Options) { o.TLS = &tls.Config{InsecureSkipVerify: true} })
		if res := client.Do(context.Background(), Call{Text: "x"}, quiet{}); res.Class != measure.OK || res.Chunks != 3 {
			t.Errorf("%s: %q (%s)", target, res.Class, res.Error)
		}
	}
}

// A dead proxy is named, and not the server.
func TestADeadProxy(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	listener.Close()
	environment(t, "HTTP_PROXY", "http://u:hidden@"+at)
	res := real(t, "http://far.invalid:8000", nil).Do(context.Background(), Call{Text: "x"}, quiet{})
	if want := "connection refused by the proxy " + at + ": check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY; NO_PROXY=far.invalid bypasses it"; res.Class != measure.Connect || res.Error != want {
		t.Errorf("%q: %s", res.Class, res.Error)
	}
}
