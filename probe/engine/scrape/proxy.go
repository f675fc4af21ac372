package scrape

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"sonde/probe/measure"
)

// proxyOf returns host:port of the proxy that an address is asked through; "" for
// none. The error tells that the environment's settings cannot be read.
func (f fetcher) proxyOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", nil
	}
	choose := http.ProxyFromEnvironment
	if t, ok := f.client.Transport.(*http.Transport); ok {
		choose = t.Proxy
	}
	if choose == nil {
		return "", nil
	}
	proxy, err := choose(&http.Request{URL: u})
	if proxy == nil || err != nil {
		return "", err
	}
	return proxy.Host, nil
}

// answeringProxy is the proxy that may have answered in the server's place. Behind
// TLS it only passes on what it cannot read.
func (f fetcher) answeringProxy(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return ""
	}
	proxy, _ := f.proxyOf(address) // an error would have ended the call
	return proxy
}

// explain puts a failed exchange into a class and a sentence that names the proxy
// in the way, if there is one.
func (f fetcher) explain(address string, err error, timeout time.Duration) (class measure.Class, says string) {
	proxy, settings := f.proxyOf(address)
	switch {
	case settings != nil: // its text repeats the setting, with a password
		return measure.Connect, "the proxy address in HTTP_PROXY or HTTPS_PROXY cannot be read: write it as http://HOST:PORT"
	case proxy == "" || errors.Is(err, context.Canceled):
		return f.explainDirect(address, err, timeout)
	}
	around := aroundProxy(address)
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			return measure.Connect, fmt.Sprintf("nothing listens at the proxy %s (connection refused): check HTTP_PROXY and HTTPS_PROXY; %s", proxy, around)
		case isTimeout(err):
			return measure.Timeout, fmt.Sprintf("no answer from the proxy %s within %v: check HTTP_PROXY and HTTPS_PROXY; %s", proxy, timeout, around)
		}
		return measure.Connect, fmt.Sprintf("cannot reach the proxy %s: %v; %s", proxy, f.config.hide(op.Err.Error()), around)
	}
	class, says = f.explainDirect(address, err, timeout)
	if class != measure.Connect {
		return class, says + through(proxy)
	}
	if why := cause(err).Error(); why != http.StatusText(http.StatusProxyAuthRequired) {
		return class, fmt.Sprintf("no connection to %s through the proxy %s: %s; %s", hostOf(address), proxy, f.config.hide(why), around)
	}
	return class, proxyWantsUser(proxy)
}

func proxyWantsUser(proxy string) string {
	return fmt.Sprintf("the proxy %s wants a user and a password (407): write them into HTTP_PROXY and HTTPS_PROXY", proxy)
}

// through is the end of a sentence about what came through a proxy; "" without one.
func through(proxy string) string {
	if proxy == "" {
		return ""
	}
	return "; asked through the proxy " + proxy
}

// aroundProxy is the way out of a proxy that should not be in the way.
func aroundProxy(address string) string {
	host := "that host"
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return fmt.Sprintf("NO_PROXY=%s goes around it", host)
}
