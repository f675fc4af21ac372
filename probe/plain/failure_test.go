package plain

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestExplain(t *testing.T) {
	verified := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: &os.SyscallError{Syscall: "connect", Err: err}}
	}
	own := &x509.Certificate{Subject: pkix.Name{CommonName: "box"}, Issuer: pkix.Name{CommonName: "box"}, NotAfter: time.Unix(0, 0).UTC(), NotBefore: time.Unix(0, 0).UTC()}
	for _, c := range []struct {
		err  error
		kind FailureKind
		want string
	}{
		{context.DeadlineExceeded, TimedOut, "no answer from h:1 within 2s"},
		{dial(os.ErrDeadlineExceeded), TimedOut, "no answer from h:1 within 2s"},
		{context.Canceled, Cancelled, "cancelled while waiting for h:1"},
		{&net.DNSError{Err: "no such host", Name: "h"}, Unreachable, "unknown host h: check the name"},
		{dial(syscall.ECONNREFUSED), Unreachable, "connection refused by h:1: is the server up, is the port right?"},
		{dial(syscall.EHOSTUNREACH), Unreachable, "no route to h:1: check network and VPN"},
		{errors.New("odd\x1b[2J"), Unreachable, "cannot reach h:1: odd[2J"},
		{verified(x509.UnknownAuthorityError{}), BadTLS, "the certificate of h:1 is not trusted: give its CA with --ca FILE, or skip the check with --insecure"},
		{verified(x509.UnknownAuthorityError{Cert: own}), BadTLS, `the certificate of h:1, issued by "CN=box" (self-signed), is not trusted: give its CA with --ca FILE, or skip the check with --insecure`},
		{verified(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}), BadTLS, "the certificate of h:1 names no host: have one made for h, or give --insecure"},
		{verified(x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a", "b", "c", "d", "e"}}, Host: "h"}), BadTLS,
			"the certificate of h:1 is valid for a, b, c, d, …, not for h: use a name it is valid for, or give --insecure"},
		{verified(x509.CertificateInvalidError{Reason: x509.Expired}), BadTLS, "the certificate of h:1 has expired or is not valid yet: renew it, set this machine's clock, or give --insecure"},
		{verified(x509.CertificateInvalidError{Reason: x509.Expired, Cert: own}), BadTLS, "the certificate of h:1 is only valid from 1970-01-01 to 1970-01-01: renew it, set this machine's clock, or give --insecure"},
		{verified(errors.New("odd")), BadTLS, "the certificate of h:1 is refused (odd): give its CA with --ca FILE, or skip the check with --insecure"},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, BadTLS, "h:1 does not speak TLS: use http://"},
		{http.ErrSchemeMismatch, BadTLS, "h:1 does not speak TLS: use http://"},
	} {
		for _, err := range []error{c.err, &url.Error{Op: "Get", URL: "http://user:secret@h:1/?key=secret", Err: c.err}} {
			if got := Explain("h:1", err, 2*time.Second); got.Kind != c.kind || got.String() != c.want {
				t.Errorf("%v: %d %q\nwant %d %q", c.err, got.Kind, got, c.kind, c.want)
			}
		}
	}
}
