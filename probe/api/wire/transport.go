package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
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
// measurement.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, known := t.only.Load(req.URL.Host); known {
		return t.clear.RoundTrip(req)
	}
	resp, err := t.Transport.RoundTrip(req)
	if !errors.Is(err, errHTTP2) {
		return resp, err
	}
	t.only.Store(req.URL.Host, true)
	if req.GetBody != nil {
		req = req.Clone(req.Context())
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.clear.RoundTrip(req)
}

// firstReply fails when the first bytes that come are HTTP/2's.
type firstReply struct {
	net.Conn
	begun bool
}

func (c *firstReply) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.begun && n > 0 {
		if c.begun = true; IsHTTP2(p[:n]) {
			return 0, errHTTP2
		}
	}
	return n, err
}
