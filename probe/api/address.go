package api

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Kind chooses the endpoint.
type Kind string

// Supported endpoints.
const (
	Chat        Kind = "chat"
	Completions Kind = "completions"
)

func (k Kind) path() string {
	if k == Completions {
		return "/completions"
	}
	return "/chat/completions"
}

// Address is where requests go, derived from the URL that the user gave.
type Address struct {
	Requests []*url.URL // candidates, best first: the second is tried when the first answers 404
	Base     *url.URL   // what the user gave, without the endpoint's path, the version and credentials
	Exact    bool       // the user gave the endpoint itself: it is used as it is
	Kind     Kind       // the endpoint; the path of the URL wins
	User     *url.Userinfo
}

// ParseAddress understands base URLs with or without a scheme, /v1, a trailing
// slash or the endpoint's path, and bare IPv6 addresses. A query string is kept.
func ParseAddress(raw string, kind Kind) (Address, error) {
	u, err := parseLoose(raw)
	if err != nil {
		return Address{}, err
	}
	a := Address{User: u.User, Kind: kind}
	u.User = nil
	path := strings.TrimRight(u.Path, "/")
	if strings.HasSuffix(path, "/completions") {
		a.Exact = true
		a.Kind = Completions
		if strings.HasSuffix(path, Chat.path()) {
			a.Kind = Chat
		}
		a.Requests = []*url.URL{withPath(u, path)}
		path = strings.TrimSuffix(strings.TrimSuffix(path, "/completions"), "/chat")
		a.Base = withPath(u, strings.TrimSuffix(path, "/v1"))
		return a, nil
	}
	base := strings.TrimSuffix(path, "/v1")
	a.Base = withPath(u, base)
	a.Requests = []*url.URL{withPath(u, base+"/v1"+kind.path()), withPath(u, base+kind.path())}
	return a, nil
}

// HostPort is the server's address for dialling.
func HostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// IsLocal reports whether the host is this machine by its name alone.
func IsLocal(u *url.URL) bool {
	host := u.Hostname()
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func parseLoose(raw string) (*url.URL, error) {
	s := strings.TrimSpace(raw)
	if ip, err := netip.ParseAddr(s); err == nil && ip.Is6() {
		s = "[" + s + "]"
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("invalid URL %q: use something like http://host:8000", raw)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q: only http and https are supported", raw)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%q has no host: use something like http://host:8000", raw)
	}
	u.Fragment = ""
	return u, nil
}

func withPath(u *url.URL, path string) *url.URL {
	c := *u
	c.Path, c.RawPath = path, ""
	return &c
}
