package export

import (
	"context"
	"fmt"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sonde/probe/guard"
	"sonde/probe/plain"
)

// Page is one page of the server.
type Page struct {
	Path    string // such as "/metrics"
	About   string // what it has, for the index
	Handler http.Handler
	Links   []string // for the index, with queries; none: the path alone
}

// Page is the page that Prometheus scrapes. It has native histograms for scrapers that ask
// for them.
func (m *Metrics) Page() Page {
	return Page{Path: "/metrics", About: "metrics for Prometheus", Handler: m.handler()}
}

func (m *Metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: mostScrapes})
}

// Bounds of the server: it stands beside a measurement and must not become a load.
const (
	mostScrapes     = 8 // at once; further ones get 503
	readTimeout     = 10 * time.Second
	mostHeaderBytes = 16 << 10
	goodbyeTimeout  = time.Second
)

// Serve serves pages, an index of them and /healthz at an address until ctx ends. It returns
// the URL once the port is open. Whatever goes wrong later goes to fail.
func Serve(ctx context.Context, address string, fail func(error), pages ...Page) (url string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return "", fmt.Errorf("--listen %s: %w", address, plain.Cause(err))
	}
	server := &http.Server{Handler: routes(pages), ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, MaxHeaderBytes: mostHeaderBytes,
		ErrorLog: log.New(io.Discard, "", 0)} // which would write over the screen
	guard.Go("metrics server", fail, func() {
		if err := server.Serve(listener); err != nil && ctx.Err() == nil {
			fail(fmt.Errorf("metrics server: %w", err))
		}
	})
	context.AfterFunc(ctx, func() {
		patience, cancel := context.WithTimeout(context.Background(), goodbyeTimeout)
		defer cancel()
		if server.Shutdown(patience) != nil {
			_ = server.Close()
		}
	})
	return "http://" + listener.Addr().String(), nil
}

func routes(pages []Page) http.Handler {
	mux := http.NewServeMux()
	for _, p := range pages {
		mux.Handle("GET "+p.Path, p.Handler)
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, index(pages))
	})
	return mux
}

// index is a page with a link to each of the others.
func index(pages []Page) string {
	var b strings.Builder
	b.WriteString("<!doctype html><title>sonde</title><h1>sonde</h1><ul>\n")
	for _, p := range append(pages[:len(pages):len(pages)], Page{Path: "/healthz", About: "whether this server is up"}) {
		fmt.Fprintf(&b, "<li><a href=\"%s\">%[1]s</a>: %s</li>\n", html.EscapeString(p.Path), html.EscapeString(p.About))
		for _, link := range p.Links {
			fmt.Fprintf(&b, "<li><a href=\"%s\">%[1]s</a></li>\n", html.EscapeString(link))
		}
	}
	b.WriteString("</ul>\n")
	return b.String()
}
