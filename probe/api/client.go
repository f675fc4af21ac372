// Package api makes one streaming request and reports when each chunk of its
// answer arrived. Every dialect and every quirk of a stream lives here.
package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"sonde/probe/api/wire"
	"sonde/probe/plain"
)

// Options configure a Client.
type Options struct {
	Address Address
	Kind    Kind
	Model   string
	Engine  string // the detected engine kind; "" if unknown
	APIKey  string
	Header  http.Header // further headers
	TLS     *tls.Config // nil: the system's roots
	Idle    time.Duration
	Epoch   time.Time // instants are counted from here

	Dial func(ctx context.Context, network, addr string) (net.Conn, error) // nil: the machine's network
}

// Client makes requests to one endpoint, each on a connection of its own.
type Client struct {
	opt     Options
	dialect dialect
	header  http.Header // of every request
	secrets plain.Secrets
	proxy   *url.URL
	pool    pool
	target  atomic.Pointer[url.URL] // where requests go now
	begun   atomic.Bool             // a reply came that was neither a 404 nor a redirect
	note    atomic.Pointer[string]  // a redirect that was followed
	stamps  atomic.Bool             // the kernel stamps arrivals
}

// NewClient makes a Client. It opens no connection.
func NewClient(opt Options) (*Client, error) {
	first := opt.Address.Requests[0]
	proxy, err := wire.ProxyFor(first)
	if err != nil {
		return nil, err
	}
	c := &Client{opt: opt, proxy: proxy, dialect: dialect{kind: opt.Kind, model: opt.Model, engine: opt.Engine}}
	c.target.Store(first)
	c.pool.dialer = &wire.Dialer{Addr: HostPort(first), Proxy: proxy, ProxyTLS: opt.TLS, Timeout: connectTimeout(opt.Idle), Net: opt.Dial}
	if first.Scheme == "https" {
		c.pool.dialer.TLS = tlsFor(opt.TLS, first.Hostname())
	}
	c.useHeader(first)
	return c, nil
}

// useHeader makes the header of every request.
func (c *Client) useHeader(first *url.URL) {
	identity := http.Header{}
	SetCredentials(identity, c.opt.APIKey, c.opt.Address.User, c.opt.Header)
	if c.pool.dialer.Forwards() {
		if auth := wire.BasicAuth(c.proxy.User); auth != "" {
			identity.Set("Proxy-Authorization", auth)
		}
	}
	c.secrets = plain.SecretsOf(identity, first.String())
	c.header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"},
		"Accept-Encoding": {"identity"}, "User-Agent": {"sonde"},
	}
	maps.Copy(c.header, identity)
}

const maxConnectTimeout = 10 * time.Second

func connectTimeout(idle time.Duration) time.Duration {
	if idle <= 0 {
		return maxConnectTimeout
	}
	return min(idle, maxConnectTimeout)
}

// tlsFor offers HTTP/1.1 only: a stream has a connection to itself.
func tlsFor(base *tls.Config, host string) *tls.Config {
	cfg := &tls.Config{}
	if base != nil {
		cfg = base.Clone()
	}
	cfg.ServerName = host
	cfg.NextProtos = []string{"http/1.1"}
	if cfg.ClientSessionCache == nil {
		cfg.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	return cfg
}

// URL is the address that requests go to.
func (c *Client) URL() string { return Redacted(c.target.Load()) }

// Stamps names the source of arrival stamps: "kernel" or "read".
func (c *Client) Stamps() string {
	if c.stamps.Load() {
		return "kernel"
	}
	return "read"
}

// Notes lists what the client had to change for this server.
func (c *Client) Notes() []string {
	notes := c.dialect.dropped()
	if p := c.note.Load(); p != nil {
		notes = append(notes, *p)
	}
	if c.proxy != nil {
		notes = append(notes, "via proxy "+c.proxy.Host)
	}
	if c.pool.dialer.SpeaksHTTP2() {
		notes = append(notes, "over HTTP/2: the server does not speak HTTP/1.1")
	}
	return notes
}

// DropIdle closes the connections that wait for a request.
func (c *Client) DropIdle() { c.pool.drop() }

// Close drops idle connections, and those that come back later.
func (c *Client) Close() { c.pool.close() }

// request builds one request; body is its JSON.
func (c *Client) request(ctx context.Context, body []byte) *http.Request {
	target := c.target.Load()
	req := &http.Request{
		Method: http.MethodPost, URL: target, Host: cmp.Or(c.header.Get("Host"), target.Host), // a Host in the header is ignored
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: c.header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	return req.WithContext(ctx)
}

// SetCredentials puts the key, the URL's user and the user's own headers into h.
// An empty key sends nothing; a header of the user's own wins.
func SetCredentials(h http.Header, key string, user *url.Userinfo, own http.Header) {
	switch {
	case key != "":
		h.Set("Authorization", "Bearer "+key)
	case user != nil:
		h.Set("Authorization", wire.BasicAuth(user))
	}
	for name, values := range own {
		h[http.CanonicalHeaderKey(name)] = values
	}
}

// Redacted is an address without what may be credentials.
func Redacted(u *url.URL) string { return plain.RedactURL(u.String()) }
