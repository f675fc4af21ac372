package config

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	schemeLike  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	halfScheme  = regexp.MustCompile(`^(?i)https?:/?([^/]|$)`)
	loopbackEnd = regexp.MustCompile(`^::1:[0-9]+$`)
	looksLikeV6 = regexp.MustCompile(`:.*:`)
)

// NormalURL adds what may be left out of an address, a scheme and the brackets of
// an IPv6 host, and leaves everything else as it is. Errors never repeat the
// address: it may hold a password.
func NormalURL(s string) (string, error) {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", errors.New("must not contain spaces or control characters")
	}
	if !utf8.ValidString(s) {
		return "", errors.New("must be UTF-8 text")
	}
	if halfScheme.MatchString(s) {
		return "", errors.New("needs two slashes after the scheme, as in http://host:8000")
	}
	if !schemeLike.MatchString(s) {
		s = "http://" + s
	}
	scheme, rest, _ := strings.Cut(s, "://")
	if l := strings.ToLower(scheme); l != "http" && l != "https" {
		return "", errors.New("must be an http:// or https:// address")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@') + 1
	host, err := bracketed(rest[at:end])
	if err != nil {
		return "", err
	}
	s = scheme + "://" + rest[:at] + host + rest[end:]
	return s, checkHost(s)
}

// bracketed puts a bare IPv6 host into brackets. "::1:8000" is loopback with a
// port; other addresses that end like a port are ambiguous.
func bracketed(host string) (string, error) {
	if strings.HasPrefix(host, "[") || !looksLikeV6.MatchString(host) {
		return host, nil
	}
	cut := strings.LastIndexByte(host, ':')
	address, port := host[:cut], host[cut+1:]
	if !loopbackEnd.MatchString(host) {
		if whole, err := netip.ParseAddr(host); err == nil {
			if n, err := strconv.Atoi(port); err == nil && n >= 1000 {
				return "", errors.New("needs brackets around the IPv6 address, as in http://[fe80::1]:8000")
			}
			return "[" + zoned(whole) + "]", nil
		}
	}
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "", errors.New("must name a host and at most one port, as in http://host:8000 or http://[::1]:8000")
	}
	return "[" + zoned(a) + "]:" + port, nil
}

// zoned writes an address for a URL, where a zone's percent sign is escaped.
func zoned(a netip.Addr) string { return strings.Replace(a.String(), "%", "%25", 1) }

// checkHost refuses an address that has no usable host or port.
func checkHost(s string) error {
	u, err := url.Parse(s)
	if err != nil {
		return errors.New("is not a valid address: use http://host:8000 or http://[::1]:8000")
	}
	if u.Hostname() == "" {
		return errors.New("has no host: use http://host:8000")
	}
	if strings.HasSuffix(u.Host, ":") {
		return errors.New("has a colon without a port: use http://host:8000")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return errors.New("must have a port from 1 to 65535")
		}
	}
	return nil
}
