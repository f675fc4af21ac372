package scrape

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The test server's certificate is for example.com, *.example.com, 127.0.0.1 and
// ::1. localhost is the same server under a name that it is not for.
func TestCertificateForAnotherName(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it will log the refused handshake
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	dialer := &net.Dialer{}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, DialContext: dialer.DialContext,
	}}
	t.Cleanup(client.CloseIdleConnections)
	base := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	host := strings.TrimPrefix(base, "https://")
	_, err := Detect(t.Context(), Config{Base: base, Client: client})
	var failed *ListError
	want := "the certificate of " + host + " is valid for example.com, *.example.com, 127.0.0.1, ::1, not for localhost: use a name it is valid for, or give --insecure"
	if !errors.As(err, &failed) || failed.Class != "tls" || failed.Says != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestExplainTLS(t *testing.T) {
	verified := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{verified(x509.UnknownAuthorityError{}), "the certificate of h:1 is not trusted: give --ca FILE or --insecure"},
		{verified(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}), "the certificate of h:1 names no host: have one made for h, or give --insecure"},
		{verified(x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a", "b", "c", "d", "e"}}, Host: "h"}),
			"the certificate of h:1 is valid for a, b, c, d, …, not for h: use a name it is valid for, or give --insecure"},
		{verified(x509.CertificateInvalidError{Reason: x509.Expired}), "the certificate of h:1 has expired or is not valid yet: renew it, set this machine's clock, or give --insecure"},
		{verified(errors.New("odd")), "the certificate of h:1 is refused (odd): give --ca FILE or --insecure"},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "h:1 does not speak TLS: use http://"},
		{errors.New("connection reset by peer"), ""},
	} {
		if got := explainTLS("h:1", c.err); got != c.want {
			t.Errorf("%v: %q\nwant %q", c.err, got, c.want)
		}
	}
}
