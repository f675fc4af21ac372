package scrape

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// explainTLS says what is wrong with a server's TLS and what to do about it; "" if
// the error is of another kind.
func explainTLS(host string, err error) string {
	var (
		record    tls.RecordHeaderError
		name      x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Sprintf("%s does not speak TLS: use http://", host)
	case errors.As(err, &name):
		return wrongName(host, name)
	case errors.As(err, &authority):
		return fmt.Sprintf("the certificate of %s is not trusted: give --ca FILE or --insecure", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate of %s has expired or is not valid yet: renew it, set this machine's clock, or give --insecure", host)
	case errors.As(err, &verify):
		return fmt.Sprintf("the certificate of %s is refused (%v): give --ca FILE or --insecure", host, verify.Err)
	}
	return ""
}

// mostNames bounds the names of a certificate that a message lists.
const mostNames = 4

// wrongName explains a certificate that was made for other names.
func wrongName(host string, e x509.HostnameError) string {
	names := append([]string(nil), e.Certificate.DNSNames...)
	for _, ip := range e.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return fmt.Sprintf("the certificate of %s names no host: have one made for %s, or give --insecure", host, e.Host)
	}
	if len(names) > mostNames {
		names = append(names[:mostNames], "…")
	}
	return fmt.Sprintf("the certificate of %s is valid for %s, not for %s: use a name it is valid for, or give --insecure", host, strings.Join(names, ", "), e.Host)
}
