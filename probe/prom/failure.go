package prom

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"unicode"
)

// refusal says in a sentence what a reply with an error, or with a status that is
// no success, means.
func (s *Server) refusal(x exchange, r reply, foreign error) error {
	switch {
	case x.status == http.StatusUnauthorized || x.status == http.StatusForbidden:
		return fmt.Errorf("Prometheus at %s wants other credentials (%d): give them as --prometheus http://USER:PASSWORD@HOST", s.base, x.status)
	case foreign == nil && r.ErrorType == "bad_data":
		return fmt.Errorf("Prometheus at %s refuses the query: %s: check --selector", s.base, clean(r.Error))
	case foreign == nil && r.Status == "error":
		return fmt.Errorf("Prometheus at %s cannot answer (%d, %s): %s", s.base, x.status, clean(r.ErrorType), clean(r.Error))
	case x.status == http.StatusOK || x.status == http.StatusNotFound:
		return fmt.Errorf("%s is not a Prometheus server (%s at /api/v1/query): give its address with --prometheus", s.base, shape(x))
	}
	return fmt.Errorf("Prometheus at %s answers HTTP %d: look there, or give another address with --prometheus", s.base, x.status)
}

// shape names what came instead of an answer.
func shape(x exchange) string {
	body := strings.TrimSpace(string(x.body[:min(len(x.body), 64)]))
	switch {
	case x.status != http.StatusOK:
		return fmt.Sprintf("HTTP %d", x.status)
	case body == "":
		return "nothing"
	case body[0] == '<':
		return "HTML"
	case body[0] == '{' || body[0] == '[':
		return "other JSON"
	}
	return "other text"
}

// unreached says in a sentence why there was no answer. It leaves the address of
// the request out, which holds the credentials.
func (s *Server) unreached(err error) error {
	var (
		dns      *net.DNSError
		record   tls.RecordHeaderError
		verify   *tls.CertificateVerificationError
		timedOut net.Error
		withURL  *url.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("cancelled while asking Prometheus at %s", s.base)
	case errors.Is(err, errOtherHost):
		return fmt.Errorf("Prometheus at %s redirects to another host: give that address with --prometheus", s.base)
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("Prometheus at %s answers with more than %d MiB: ask for less with --selector", s.base, maxBytes>>20)
	case errors.As(err, &dns):
		return fmt.Errorf("the host of Prometheus at %s is not known: check the name", s.base)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no Prometheus at %s (connection refused): is it up, is the port right?", s.base)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("Prometheus at %s does not speak TLS: use http://", s.base)
	case errors.As(err, &verify):
		return fmt.Errorf("the certificate of Prometheus at %s is not trusted: give --ca FILE or --insecure", s.base)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timedOut) && timedOut.Timeout():
		return fmt.Errorf("no answer from Prometheus at %s within %v", s.base, timeout)
	case errors.As(err, &withURL):
		err = withURL.Err
	}
	return fmt.Errorf("cannot reach Prometheus at %s: %s", s.base, clean(err.Error()))
}

// missing says that the query matches nothing.
func (s *Server) missing(q Query) error {
	wayOut := "does it scrape them?"
	if q.Selector != "" {
		wayOut = "check --selector, and that it scrapes them"
	}
	return fmt.Errorf("Prometheus at %s has no series %s: %s", s.base, q.described(), wayOut)
}

// clean makes text from a server fit for a terminal and for one line.
func clean(s string) string {
	const most = 200
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}
