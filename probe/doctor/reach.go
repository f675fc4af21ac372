package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"syscall"
	"time"

	"sonde/probe/api"
	"sonde/probe/api/wire"
)

const reachTimeout = 5 * time.Second

// reach goes from the address to a connection: name, TCP, TLS. Without one there
// is nothing more to look at.
func (r *Report) reach(ctx context.Context, o Options) (api.Address, bool) {
	s := r.section("address")
	addr, err := api.ParseAddress(o.URL, api.Kind(o.API))
	if err != nil {
		s.failed("URL", err.Error(), "")
		return addr, false
	}
	to := addr.Requests[0]
	r.URL = api.Redacted(to)
	s.ok("URL", r.URL)
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: to})
	if err != nil {
		s.failed("proxy", "the proxy settings of the environment cannot be used: "+err.Error(), "mend or unset HTTP_PROXY and HTTPS_PROXY")
		return addr, false
	}
	if proxy != nil {
		s.ok("proxy", proxy.Host+" is in the way: what it adds is measured too")
	} else if !s.name(ctx, to.Hostname()) {
		return addr, false
	}
	return addr, s.connect(ctx, to, proxy, o)
}

// name looks the host up, unless it is an address.
func (s section) name(ctx context.Context, host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		s.failed("name", "host "+host+" is not known", "check the name, or give the IP address")
		return false
	}
	s.ok("name", host+" is "+listed(found, 3))
	return true
}

// connect opens the connection that a request would use.
func (s section) connect(ctx context.Context, to, proxy *url.URL, o Options) bool {
	at := api.HostPort(to)
	plainly := &wire.Dialer{Addr: at, Proxy: proxy, Timeout: reachTimeout}
	began := time.Now()
	link, err := plainly.Dial(ctx)
	if err != nil {
		says, do := explainTCP(at, err)
		s.failed("TCP", says, do)
		return false
	}
	_ = link.Close()
	s.ok("TCP", fmt.Sprintf("connected in %.1f ms", time.Since(began).Seconds()*1000))
	if to.Scheme != "https" {
		return true
	}
	config := &tls.Config{}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}
	config.ServerName, config.NextProtos = to.Hostname(), []string{"http/1.1"}
	var seen *tls.ConnectionState
	config.VerifyConnection = func(state tls.ConnectionState) error { seen = &state; return nil }
	secured := *plainly
	secured.TLS = config
	if link, err = secured.Dial(ctx); err != nil {
		says, do := explainTLS(err, to.Hostname())
		s.failed("TLS", says, do)
		return false
	}
	_ = link.Close()
	s.tls(seen, o.Insecure)
	return true
}

func explainTCP(at string, err error) (says, do string) {
	switch {
	case errors.Is(err, wire.ErrProxy):
		return err.Error(), "ask who runs the proxy, or set NO_PROXY for this host"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + at + " (connection refused)", "is the server up, is the port right?"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer from %s within %v", at, reachTimeout), "is a firewall in the way, is the address right?"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no way to " + at, "check network and VPN"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return "no connection to " + at + ": " + err.Error(), "check address and network"
}
