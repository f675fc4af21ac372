package plain

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Failure says why a server did not answer, and what to do about it.
type Failure struct {
	Kind FailureKind
	What string
	Do   string // "" if there is nothing to advise
}

// FailureKind sorts failures by what they mean for a connection.
type FailureKind int

// Kinds of failures to get a whole response.
const (
	Unreachable FailureKind = iota
	Cancelled
	TimedOut
	BadTLS
	Redirected // to another host
	TooLarge
)

func (f Failure) String() string {
	if f.Do == "" {
		return f.What
	}
	return f.What + ": " + f.Do
}

// Explain puts a failed exchange with a server into words. The server's name is shown as
// it is; the URL of the request, which may hold a key, is not.
func Explain(server string, err error, timeout time.Duration) Failure {
	var (
		dns      *net.DNSError
		timedOut net.Error
		other    *OtherHostError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return Failure{Cancelled, "cancelled while waiting for " + server, ""}
	case errors.As(err, &other):
		f := Redirect(other.To)
		return Failure{Redirected, server + " " + f.What, f.Do}
	case errors.Is(err, ErrTooLarge):
		return Failure{TooLarge, fmt.Sprintf("response from %s refused: %v", server, err), ""}
	case errors.As(err, &dns):
		return Failure{Unreachable, "unknown host " + dns.Name, "check the name"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return Failure{Unreachable, "connection refused by " + server, "is the server up, is the port right?"}
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return Failure{Unreachable, "no route to " + server, "check network and VPN"}
	}
	if f, ok := ExplainTLS(server, err); ok {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timedOut) && timedOut.Timeout() {
		return Failure{TimedOut, fmt.Sprintf("no answer from %s within %v", server, timeout), ""}
	}
	return Failure{Unreachable, "cannot reach " + server + ": " + Line(Cause(err).Error(), 200), ""}
}

// Cause strips what Go puts in front of an error: the URL, which may hold a key, the address,
// the path.
func Cause(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err
}

const (
	trustIt    = "give its CA with --ca FILE, or skip the check with --insecure"
	orInsecure = ", or give --insecure"
)

// loginPage are words in the addresses of pages where people log in.
var loginPage = regexp.MustCompile(`(?i)log-?in|sign-?in|sso|saml|oauth|/auth`)

// Redirect says where a server sends its callers, and what to do about it. Nobody follows
// to another host: the key would go with the request.
func Redirect(to string) Failure {
	to = RedactURL(to)
	if u, err := url.Parse(to); err == nil && loginPage.MatchString(u.Host+u.Path) {
		return Failure{What: "redirects to a login page, " + to, Do: "give a key with --api-key, or an address of the API that needs no login"}
	}
	return Failure{What: "redirects to " + to, Do: "give that address"}
}

// ExplainTLS says what is wrong with a server's TLS. It is not ok if the error is of
// another kind.
func ExplainTLS(server string, err error) (f Failure, ok bool) {
	var (
		record    tls.RecordHeaderError
		name      x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
	)
	certificate := "the certificate of " + server
	switch {
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return Failure{BadTLS, server + " does not speak TLS", "use http://"}, true
	case errors.As(err, &name):
		return wrongName(certificate, name), true
	case errors.As(err, &authority):
		return Failure{BadTLS, certificate + issuedBy(authority.Cert) + " is not trusted", trustIt}, true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return Failure{BadTLS, certificate + validity(invalid.Cert), "renew it, set this machine's clock" + orInsecure}, true
	case errors.As(err, &verify):
		return Failure{BadTLS, fmt.Sprintf("%s is refused (%v)", certificate, verify.Err), trustIt}, true
	}
	if alert, ok := Alert(err); ok {
		f, known := alerts[alert]
		f.What = server + f.What
		return f, known
	}
	return Failure{}, false
}

// Alert is the number of the TLS alert with which the other side ended a connection.
func Alert(err error) (number uint64, ok bool) {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return 0, false
	}
	if v := reflect.ValueOf(op.Err); v.Kind() == reflect.Uint8 { // a type of crypto/tls's own
		return v.Uint(), true
	}
	return 0, false
}

const (
	giveCertificate  = "give one with --cert FILE --key FILE"
	otherCertificate = "give one that it accepts with --cert FILE --key FILE"
)

// alerts are those of RFC 8446, section 6.2, whose cause can be named: a server sends the
// ones about certificates only about the client's.
var alerts = map[uint64]Failure{
	40:  {BadTLS, " refuses the TLS handshake (handshake failure)", "if it wants a client certificate, " + giveCertificate + "; else it shares no TLS version or cipher with sonde"},
	42:  {BadTLS, " wants a client certificate that it accepts (bad certificate)", giveCertificate},
	43:  {BadTLS, " does not accept this kind of client certificate (unsupported certificate)", otherCertificate},
	44:  {BadTLS, " says that the client certificate was revoked", otherCertificate},
	45:  {BadTLS, " says that the client certificate has expired", "renew it, or " + otherCertificate},
	46:  {BadTLS, " does not accept the client certificate (certificate unknown)", otherCertificate},
	48:  {BadTLS, " does not trust the issuer of the client certificate (unknown certificate authority)", otherCertificate},
	49:  {BadTLS, " refuses the client certificate (access denied)", otherCertificate},
	70:  {BadTLS, " speaks another version of TLS (protocol version)", "sonde speaks TLS 1.2 and 1.3"},
	112: {BadTLS, " does not serve that host name (unrecognized name)", "use a name it is set up for"},
	116: {BadTLS, " wants a client certificate", giveCertificate},
	120: {BadTLS, " speaks neither HTTP/1.1 nor HTTP/2 over TLS (no application protocol)", ""},
}

// wrongName explains a certificate that was made for other names.
func wrongName(certificate string, e x509.HostnameError) Failure {
	const most = 4
	names := append([]string(nil), e.Certificate.DNSNames...)
	for _, ip := range e.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return Failure{BadTLS, certificate + " names no host", "have one made for " + e.Host + orInsecure}
	}
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return Failure{BadTLS, fmt.Sprintf("%s is valid for %s, not for %s", certificate, strings.Join(names, ", "), e.Host), "use a name it is valid for" + orInsecure}
}

func validity(c *x509.Certificate) string {
	if c == nil {
		return " has expired or is not valid yet"
	}
	return fmt.Sprintf(" is only valid from %s to %s", c.NotBefore.Format(time.DateOnly), c.NotAfter.Format(time.DateOnly))
}

func issuedBy(c *x509.Certificate) string {
	if c == nil {
		return ""
	}
	return ", issued by " + Issuer(c) + ","
}

// Issuer names who signed a certificate.
func Issuer(c *x509.Certificate) string {
	if c.Issuer.String() == c.Subject.String() {
		return fmt.Sprintf("%q (self-signed)", c.Issuer.String())
	}
	return fmt.Sprintf("%q", c.Issuer.String())
}
