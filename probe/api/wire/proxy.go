package wire

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"

	"sonde/probe/plain"
)

// ErrProxy marks failures on the way to a proxy and its refusals, which are not the
// server's.
var ErrProxy = errors.New("the proxy")

// ErrProxySettings does not repeat the settings, which may hold a password.
var ErrProxySettings = errors.New("the proxy address in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY cannot be used: " +
	"write it as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")

// defaultPorts are those of proxies by scheme.
var defaultPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// ProxyFor returns the proxy for an address; nil is none. This is the one rule for
// requests, the model list and metrics pages: HTTP_PROXY or HTTPS_PROXY, else ALL_PROXY,
// unless NO_PROXY names the host.
func ProxyFor(to *url.URL) (*url.URL, error) {
	env := httpproxy.FromEnvironment()
	setting := env.HTTPProxy
	if to.Scheme == "https" {
		setting = env.HTTPSProxy
	}
	setting = cmp.Or(setting, os.Getenv("ALL_PROXY"), os.Getenv("all_proxy"))
	// The library passes over settings that it cannot read: it only says whether NO_PROXY
	// or a loopback address rules a proxy out.
	const any = "http://any"
	rule := httpproxy.Config{HTTPProxy: any, HTTPSProxy: any, NoProxy: env.NoProxy}
	if used, err := rule.ProxyFunc()(to); setting == "" || used == nil || err != nil {
		return nil, err
	}
	if !strings.Contains(setting, "://") {
		setting = "http://" + setting
	}
	at, err := url.Parse(setting)
	if err != nil {
		return nil, ErrProxySettings
	}
	if at.Scheme == "socks" { // what desktops write
		at.Scheme = "socks5"
	}
	if defaultPorts[at.Scheme] == "" || at.Hostname() == "" {
		return nil, ErrProxySettings
	}
	return at, nil
}

// proxyOf is ProxyFor in the form that net/http takes.
func proxyOf(req *http.Request) (*url.URL, error) { return ProxyFor(req.URL) }

// Forwards reports whether the proxy takes whole requests, with the address of the
// server in them, and not only bytes.
func (d *Dialer) Forwards() bool { return d.Proxy != nil && d.TLS == nil && !d.socks() }

func (d *Dialer) socks() bool { return strings.HasPrefix(d.Proxy.Scheme, "socks") }

// dialAddr is where the connection goes first.
func (d *Dialer) dialAddr() string {
	if d.Proxy == nil {
		return d.Addr
	}
	return net.JoinHostPort(d.Proxy.Hostname(), cmp.Or(d.Proxy.Port(), defaultPorts[d.Proxy.Scheme]))
}

// proxyError names the proxy in an error.
func (d *Dialer) proxyError(err error) error {
	return fmt.Errorf("%w %s: %w", ErrProxy, d.Proxy.Host, err)
}

// ExplainProxy says why the proxy made no connection.
func (d *Dialer) ExplainProxy(err error) plain.Failure {
	host, _, _ := net.SplitHostPort(d.Addr) // made by us
	around := AroundProxy(host)
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		why := plain.Explain("the proxy "+d.Proxy.Host, err, d.Timeout)
		why.Do = "check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY; " + around
		return why
	}
	return plain.Failure{What: err.Error(), Do: around}
}

// passProxy makes the link go through the proxy to the server.
func (d *Dialer) passProxy(ctx context.Context, link *Link) error {
	if d.socks() {
		return d.passSOCKS(ctx, link)
	}
	if d.Proxy.Scheme == "https" {
		cfg := &tls.Config{}
		if d.ProxyTLS != nil {
			cfg = d.ProxyTLS.Clone()
		}
		cfg.ServerName, cfg.NextProtos = d.Proxy.Hostname(), nil
		secured := tls.Client(link.Wire, cfg)
		if err := secured.HandshakeContext(ctx); err != nil {
			return d.proxyError(err)
		}
		link.Conn = secured
	}
	if d.Forwards() {
		return nil
	}
	return d.tunnel(link.Conn)
}

// passSOCKS asks a SOCKS proxy for a connection to the server, whose name the proxy
// looks up.
func (d *Dialer) passSOCKS(ctx context.Context, link *Link) error {
	var auth *proxy.Auth
	if user := d.Proxy.User; user != nil {
		password, _ := user.Password()
		auth = &proxy.Auth{User: user.Username(), Password: password}
	}
	socks, err := proxy.SOCKS5("tcp", d.dialAddr(), auth, established{link.Wire})
	if err != nil {
		return d.proxyError(err)
	}
	if _, err = socks.(proxy.ContextDialer).DialContext(ctx, "tcp", d.Addr); err != nil {
		if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "socks" {
			err = op.Err // without the addresses, which the caller names
		}
		return d.proxyError(err)
	}
	return nil
}

// established hands out a connection that there is already.
type established struct{ net.Conn }

func (e established) Dial(_, _ string) (net.Conn, error) { return e.Conn, nil }

func (e established) DialContext(context.Context, string, string) (net.Conn, error) {
	return e.Conn, nil
}

// tunnel asks an HTTP proxy for a connection to the server.
func (d *Dialer) tunnel(c net.Conn) error {
	req := &http.Request{
		Method: http.MethodConnect,
		URL:    &url.URL{Opaque: d.Addr},
		Host:   d.Addr,
		Header: make(http.Header),
	}
	if auth := BasicAuth(d.Proxy.User); auth != "" {
		req.Header.Set("Proxy-Authorization", auth)
	}
	if err := req.Write(c); err != nil {
		return d.proxyError(err)
	}
	// The server sends nothing before our handshake, so this reader cannot swallow
	// any of its bytes.
	resp, err := http.ReadResponse(bufio.NewReader(c), req)
	switch {
	case err != nil:
		return d.proxyError(err)
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return fmt.Errorf("%w %s wants a user and a password (407): %s", ErrProxy, d.Proxy.Host, ProxyUser)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%w %s replied %s", ErrProxy, d.Proxy.Host, resp.Status)
	}
	return nil
}

// ProxyUser says where a proxy's credentials go.
const ProxyUser = "write them into HTTP_PROXY and HTTPS_PROXY"

// AroundProxy says how to bypass a proxy that should not be used for a host.
func AroundProxy(host string) string { return "NO_PROXY=" + host + " bypasses it" }
