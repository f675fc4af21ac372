package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Dialer opens stamped connections to one origin.
type Dialer struct {
	Addr    string      // host:port of the server
	TLS     *tls.Config // nil: plain TCP. ServerName must be set
	Proxy   *url.URL    // nil: direct
	Timeout time.Duration
	Net     func(ctx context.Context, network, addr string) (net.Conn, error) // nil: the machine's network
}

// Link is an open connection, ready for a request.
type Link struct {
	net.Conn               // what HTTP talks to: the Conn below, or TLS over it
	Wire     *Conn         // the stamped connection at the bottom
	Setup    time.Duration // DNS, TCP, proxy and TLS
}

// ErrTLS marks errors of the TLS handshake, which are not errors of the network.
var ErrTLS = errors.New("TLS")

// ErrProxy marks refusals by the proxy, which are not the server's.
var ErrProxy = errors.New("proxy")

// Dial opens a connection: name look-up, TCP, the proxy's CONNECT, TLS.
func (d *Dialer) Dial(ctx context.Context) (*Link, error) {
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
		return nil, err
	}
	conn := NewConn(tcp)
	link := &Link{Conn: conn, Wire: conn}
	if err := d.secure(ctx, link); err != nil {
		_ = tcp.Close()
		return nil, err
	}
	link.Setup = time.Since(began)
	return link, nil
}

// secure puts the proxy's tunnel and TLS on top of the connection.
func (d *Dialer) secure(ctx context.Context, link *Link) error {
	if d.TLS == nil {
		return nil
	}
	// Handshakes obey the context, and nothing of it stays on the connection.
	stop := context.AfterFunc(ctx, func() { _ = link.Wire.Conn.Close() })
	defer stop()
	if d.Proxy != nil {
		if err := d.tunnel(link.Wire); err != nil {
			return err
		}
	}
	secured := tls.Client(link.Wire, d.TLS)
	if err := secured.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrTLS, err)
	}
	link.Conn = secured
	return nil
}

func (d *Dialer) dialAddr() string {
	if d.Proxy == nil {
		return d.Addr
	}
	if d.Proxy.Port() != "" {
		return d.Proxy.Host
	}
	return net.JoinHostPort(d.Proxy.Hostname(), "80")
}

// tunnel asks the proxy for a connection to the server.
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
		return err
	}
	// The server sends nothing before our handshake, so this reader cannot swallow
	// any of its bytes.
	resp, err := http.ReadResponse(bufio.NewReader(c), req)
	if err != nil {
		return fmt.Errorf("%w %s: %w", ErrProxy, d.Proxy.Host, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w %s replied %s", ErrProxy, d.Proxy.Host, resp.Status)
	}
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
