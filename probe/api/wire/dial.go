package wire

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"sonde/probe/plain"
)

// Dialer opens stamped connections to one origin.
type Dialer struct {
	Addr     string      // host:port of the server
	TLS      *tls.Config // nil: plain TCP. ServerName must be set
	Proxy    *url.URL    // nil: direct
	ProxyTLS *tls.Config // how an https proxy is verified; nil: like any server
	Timeout  time.Duration
	Net      func(ctx context.Context, network, addr string) (net.Conn, error) // nil: the machine's network

	http2 atomic.Bool // the server speaks nothing else
}

// OnlyHTTP2 notes that the server does not speak HTTP/1.1: connections speak HTTP/2
// from now on. It reports whether that is news.
func (d *Dialer) OnlyHTTP2() bool { return d.http2.CompareAndSwap(false, true) }

// NotHTTP2 takes OnlyHTTP2 back: the server did not speak that either.
func (d *Dialer) NotHTTP2() { d.http2.Store(false) }

// SpeaksHTTP2 reports whether OnlyHTTP2 was called.
func (d *Dialer) SpeaksHTTP2() bool { return d.http2.Load() }

// Link is an open connection, ready for a request.
type Link struct {
	net.Conn               // what HTTP talks to: the Conn below, or TLS over it
	HTTP2    bool          // speak that, else HTTP/1.1
	Wire     *Conn         // the stamped connection at the bottom
	Setup    time.Duration // DNS, TCP, proxy and TLS
}

// ErrTLS marks errors of the TLS handshake, which are not errors of the network.
var ErrTLS = errors.New("TLS")

// noProtocol is the TLS alert of a server that speaks none of the protocols offered.
const noProtocol = 120

// Dial opens a connection: name look-up, TCP, the proxy's CONNECT, TLS. HTTP/2 is only
// offered to a server that refuses HTTP/1.1.
func (d *Dialer) Dial(ctx context.Context) (*Link, error) {
	link, err := d.dial(ctx)
	if alert, ok := plain.Alert(err); ok && alert == noProtocol && d.OnlyHTTP2() {
		return d.dial(ctx)
	}
	return link, err
}

func (d *Dialer) dial(ctx context.Context) (*Link, error) {
	if d.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.Timeout)
		defer cancel()
	}
	began := time.Now()
	dial := d.Net
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	tcp, err := dial(ctx, "tcp", d.dialAddr())
	if err != nil {
		if d.Proxy != nil {
			err = d.proxyError(err)
		}
		return nil, err
	}
	conn := NewConn(tcp)
	link := &Link{Conn: conn, Wire: conn, HTTP2: d.http2.Load()}
	if err := d.secure(ctx, link); err != nil {
		_ = tcp.Close()
		return nil, err
	}
	link.Setup = time.Since(began)
	return link, nil
}

// secure puts the proxy's tunnel and TLS on top of the connection.
func (d *Dialer) secure(ctx context.Context, link *Link) error {
	// Handshakes obey the context, and nothing of it stays on the connection.
	stop := context.AfterFunc(ctx, func() { _ = link.Wire.Conn.Close() })
	defer stop()
	if d.Proxy != nil {
		if err := d.passProxy(ctx, link); err != nil {
			return err
		}
	}
	if d.TLS == nil {
		return nil
	}
	cfg := d.TLS
	if link.HTTP2 {
		cfg = cfg.Clone()
		cfg.NextProtos = []string{"h2"}
	}
	secured := tls.Client(link.Conn, cfg)
	if err := secured.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrTLS, err)
	}
	link.Conn = secured
	return nil
}

// BasicAuth is the value of an authorization header for a URL's user, "" if it has none.
func BasicAuth(user *url.Userinfo) string {
	if user == nil {
		return ""
	}
	password, _ := user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
}
