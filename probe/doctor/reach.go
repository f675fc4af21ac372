package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"sonde/probe/api"
	"sonde/probe/api/wire"
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
	s.ok("URL", r.URL)
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: to})
	if err != nil {
		s.failed("proxy", "invalid proxy settings in the environment: "+err.Error(), "correct or unset HTTP_PROXY and HTTPS_PROXY")
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
	s.ok("name", host+" resolves to "+listed(found, 3))
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
		return err.Error(), "ask whoever runs the proxy, or set NO_PROXY for this host"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + at + " (connection refused)", "check that the server is up and the port is right"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer from %s within %v", at, reachTimeout), "check the address, and whether a firewall blocks it"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to " + at, "check the network and VPN"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return "cannot connect to " + at + ": " + err.Error(), "check the address and the network"
}

// tls says who issued the certificate and until when it is valid.
func (s section) tls(state *tls.ConnectionState, insecure bool) {
	if insecure {
		s.missing("TLS", "the certificate is not checked (--insecure)", "use --ca FILE with its CA instead")
		return
	}
	leaf := state.PeerCertificates[0]
	s.ok("TLS", fmt.Sprintf("%s, certificate issued by %s, valid until %s", tls.VersionName(state.Version), issuer(leaf), leaf.NotAfter.Format(time.DateOnly)))
}

// explainTLS names what is wrong with the certificate.
func explainTLS(err error, host string) (says, do string) {
	var (
		record    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &record):
		return "the server does not speak TLS on this port", "use http://"
	case errors.As(err, &name) && !namesAny(name.Certificate):
		return "the certificate names no host", "get one for " + host + ", or use --insecure"
	case errors.As(err, &name):
		return fmt.Sprintf("the certificate is for %s, not for %s", names(name.Certificate), host), "use that name, or --insecure"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate is only valid from %s to %s", invalid.Cert.NotBefore.Format(time.DateOnly), invalid.Cert.NotAfter.Format(time.DateOnly)),
			"renew it, check this machine's clock, or use --insecure"
	case errors.As(err, &authority):
		return "the certificate issued by " + issuer(authority.Cert) + " is not trusted here", "use --ca FILE with its CA, or skip the check with --insecure"
	}
	return strings.TrimPrefix(err.Error(), "TLS: "), "see details with: openssl s_client -connect " + host + ":PORT"
}

// issuer is who signed a certificate.
func issuer(c *x509.Certificate) string {
	if c == nil {
		return "an unknown issuer"
	}
	if c.Issuer.String() == c.Subject.String() {
		return fmt.Sprintf("%q (self-signed)", c.Issuer.String())
	}
	return fmt.Sprintf("%q", c.Issuer.String())
}

// names are the hosts that a certificate is for.
func names(c *x509.Certificate) string {
	all := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	return listed(all, 3)
}

func namesAny(c *x509.Certificate) bool { return len(c.DNSNames)+len(c.IPAddresses) > 0 }
