package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// errHTTP2 is a reply in HTTP/2 to a request in HTTP/1.
var errHTTP2 = errors.New("the server speaks HTTP/2 only")

// Transport is for requests that are not measured: the model list and metrics pages.
// They take the same ways as those that are: proxies, client certificates and, from
// servers that speak nothing else, HTTP/2 without TLS.
type Transport struct {
	*http.Transport                 // HTTP/1, and HTTP/2 where TLS agrees on it
	clear           *http.Transport // HTTP/2 without TLS
	only            sync.Map        // hosts that speak only that
}

// NewTransport makes a Transport. A nil cfg trusts the system's authorities, a nil dial
// is the machine's network.
func NewTransport(cfg *tls.Config, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *Transport {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	t := &Transport{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	t.TLSClientConfig, t.Proxy = cfg, proxyOf
	t.clear = t.Transport.Clone()
	t.clear.DialContext = dial
	t.clear.Protocols = new(http.Protocols)
	t.clear.Protocols.SetUnencryptedHTTP2(true)
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &firstReply{Conn: c}, nil
	}
	return t
}

// RoundTrip tries HTTP/1 first: a server that speaks both is spoken to as in the
// measurement. One that hangs up without a word is asked once more in HTTP/2.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, known := t.only.Load(req.URL.Host); known {
		return t.clear.RoundTrip(req)
	}
	resp, err := t.Transport.RoundTrip(req)
	var silence *silence
	silent := errors.As(err, &silence) && req.URL.Scheme == "http"
	if !silent && !errors.Is(err, errHTTP2) {
		return resp, err
	}
	if req.GetBody != nil {
		req = req.Clone(req.Context())
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	resp, err = t.clear.RoundTrip(req)
	switch {
	case err == nil:
		t.only.Store(req.URL.Host, true)
	case silent: // it was not for want of HTTP/2
		return nil, silence.error
	}
	return resp, err
}

// silence is the error of a connection that ended before its first byte.
type silence struct{ error }

func (s *silence) Unwrap() error { return s.error }

// firstReply looks at the first bytes that come.
type firstReply struct {
	net.Conn
	begun bool
}

func (c *firstReply) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.begun {
		return n, err
	}
	c.begun = true
	switch {
	case n > 0 && IsHTTP2(p[:n]):
		return 0, errHTTP2
	case n == 0 && err != nil:
		return 0, &silence{err}
	}
	return n, err
}

// Write leaves it to Read to report that the server hung up: what it sent before says why,
// such as the TLS alert about a certificate.
func (c *firstReply) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return len(p), nil
	}
	return n, err
}
