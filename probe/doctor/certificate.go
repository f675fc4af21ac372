package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

// tls says whose certificate it is and for how long.
func (s section) tls(state *tls.ConnectionState, insecure bool) {
	if insecure {
		s.missing("TLS", "the certificate is not checked (--insecure)", "give its CA with --ca FILE")
		return
	}
	leaf := state.PeerCertificates[0]
	s.ok("TLS", fmt.Sprintf("%s, certificate of %s valid until %s", tls.VersionName(state.Version), issuer(leaf), leaf.NotAfter.Format(time.DateOnly)))
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
		return "the server does not speak TLS at this port", "use http://"
	case errors.As(err, &name) && !namesAny(name.Certificate):
		return "the certificate names no host", "have one made for " + host + ", or give --insecure"
	case errors.As(err, &name):
		return fmt.Sprintf("the certificate is for %s, not for %s", names(name.Certificate), host), "use that name, or --insecure"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate is valid from %s to %s only", invalid.Cert.NotBefore.Format(time.DateOnly), invalid.Cert.NotAfter.Format(time.DateOnly)),
			"renew it, check this machine's clock, or use --insecure"
	case errors.As(err, &authority):
		return "the certificate of " + issuer(authority.Cert) + " is not trusted here", "give its CA with --ca FILE, or skip the check with --insecure"
	}
	return strings.TrimPrefix(err.Error(), "TLS: "), "see what the server says with: openssl s_client -connect " + host + ":PORT"
}

// issuer is who signed a certificate.
func issuer(c *x509.Certificate) string {
	if c == nil {
		return "an unknown issuer"
	}
	if c.Issuer.String() == c.Subject.String() {
		return fmt.Sprintf("%q (signed by itself)", c.Issuer.String())
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
