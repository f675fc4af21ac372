package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"sonde/probe/api"
	"sonde/probe/api/wire"
	"sonde/probe/plain"
)

const reachTimeout = 5 * time.Second

// reach goes from the address to a connection: name, TCP, TLS. Without one
// nothing more can be examined.
func (r *Report) reach(ctx context.Context, o Options) (api.Address, bool) {
	s := r.section("address")
	addr, err := api.ParseAddress(o.URL, api.Kind(o.API))
	if err != nil {
		s.failed("URL", err.Error(), "")
		return addr, false
	}
	to := addr.Requests[0]
	r.URL = api.Redacted(to)
	s = s.via(r.URL, "")
	s.ok("URL", r.URL)
	proxy, err := wire.ProxyFor(to)
	if err != nil {
		s.failed("proxy", err.Error(), "correct it, or unset it")
		return addr, false
	}
	if proxy != nil {
		s.ok("proxy", "requests go through "+proxy.Host+": what it adds is measured too")
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
		s.failed("name", "cannot resolve host "+host, "check the name, or use the IP address")
		return false
	}
	s.ok("name", host+" resolves to "+plain.FirstFew(found, 3))
	return true
}

// connect opens the connection that a request would use.
func (s section) connect(ctx context.Context, to, proxy *url.URL, o Options) bool {
	at := api.HostPort(to)
	plainly := &wire.Dialer{Addr: at, Proxy: proxy, ProxyTLS: o.TLS, Timeout: reachTimeout}
	began := time.Now()
	link, err := plainly.Dial(ctx)
	if err != nil {
		failed := plain.Explain(at, err, reachTimeout)
		if errors.Is(err, wire.ErrProxy) {
			failed = plainly.ExplainProxy(err)
		}
		s.failed("TCP", failed.What, cmp.Or(failed.Do, "check the address, the network and firewalls"))
		return false
	}
	_ = link.Close()
	s.ok("TCP", fmt.Sprintf("connected in %.1f ms", time.Since(began).Seconds()*1000))
	if to.Scheme != "https" {
		return true
	}
	return s.secure(ctx, to, proxy, o)
}

// refusalTime is how long a server may take to refuse the client's certificate.
const refusalTime = time.Second

// secure makes the TLS handshake. In TLS 1.3 it ends before the server has seen the client's
// certificate: whether that was wanted or refused comes with the first read.
func (s section) secure(ctx context.Context, to, proxy *url.URL, o Options) bool {
	at := api.HostPort(to)
	config := &tls.Config{}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}
	config.ServerName, config.NextProtos = to.Hostname(), []string{"http/1.1"}
	var seen tls.ConnectionState
	config.VerifyConnection = func(state tls.ConnectionState) error { seen = state; return nil }
	requested, ours := false, config.GetClientCertificate
	config.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if requested = true; ours != nil {
			return ours(info)
		}
		return &tls.Certificate{}, nil
	}
	link, err := (&wire.Dialer{Addr: at, Proxy: proxy, ProxyTLS: o.TLS, Timeout: reachTimeout, TLS: config}).Dial(ctx)
	if err == nil {
		defer link.Close()
		if requested {
			_ = link.SetReadDeadline(time.Now().Add(refusalTime))
			_, err = link.Read(make([]byte, 1))
		}
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		failed, ok := plain.ExplainTLS(at, err)
		switch {
		case !ok && requested:
			failed.What, failed.Do = "the server asked for a client certificate and ended the connection", "give one that it accepts with --cert FILE --key FILE"
		case !ok:
			failed.What, failed.Do = strings.TrimPrefix(err.Error(), "TLS: "), "see details with: openssl s_client -connect "+at
		}
		s.failed("TLS", failed.What, failed.Do)
		return false
	}
	s.tls(&seen, o.Insecure)
	switch {
	case requested && ours != nil:
		s.ok("certificate", "the server asked for a client certificate and accepts yours")
	case requested:
		s.ok("certificate", "the server asked for a client certificate and accepts connections without one; if it refuses requests, use --cert FILE --key FILE")
	}
	return true
}

// tls says who issued the certificate and until when it is valid.
func (s section) tls(state *tls.ConnectionState, insecure bool) {
	if insecure {
		s.missing("TLS", "the certificate is not checked (--insecure)", "use --ca FILE with its CA instead")
		return
	}
	leaf := state.PeerCertificates[0]
	s.ok("TLS", fmt.Sprintf("%s, certificate issued by %s, valid until %s", tls.VersionName(state.Version), plain.Issuer(leaf), leaf.NotAfter.Format(time.DateOnly)))
}
