package scrape

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"

	"sonde/probe/engine/kinds"
	"sonde/probe/guard"
	"sonde/probe/prom"
)

// found is the outcome of the search for a metrics page.
type found struct {
	url string      // where it is worth polling; "" = nowhere
	why string      // why it is nowhere
	by  *kinds.Kind // whose names are on the page; nil if none are known
}

// findMetrics looks for the page of an engine that is known (k) or not (nil), at
// every likely place once. model is the one that requests name.
func (f fetcher) findMetrics(ctx context.Context, k *kinds.Kind, model string) found {
	switch {
	case f.config.MetricsURL == metricsOff:
		return found{why: "switched off with --metrics off"}
	case f.config.MetricsURL != "":
		got := f.lookFor(ctx, newSearchParser(), f.config.givenMetrics(), model)
		return found{url: got.url, by: got.by()}
	case k != nil && k.NoPage != "":
		return found{why: k.NoPage}
	}
	paths := commonPaths
	if k == nil {
		k = &kinds.Kind{}
	} else if k.Paths != nil {
		paths = k.Paths
	}
	var best found
	for _, path := range paths {
		got := f.lookFor(ctx, newSearchParser(), f.config.rootAt(path), model)
		switch {
		case got.err != nil && kinds.IsIterations(got.body): // which we have just taken
			return found{why: f.why(got, &kinds.TRTLLM), by: &kinds.TRTLLM}
		case got.by() != nil:
			return found{url: got.url, by: got.by()}
		case got.unreachable() && best.url == "":
			return found{url: got.url} // it may come back: keep asking there
		case got.isPage() && best.url == "":
			best.url = got.url
		case !got.isPage() && best.why == "":
			best.why = f.why(got, k)
		}
	}
	if best.url != "" {
		best.why = ""
	}
	return best
}

// commonPaths are the places where metrics pages are found.
var commonPaths = []string{"/metrics", "/v1/metrics", "/prometheus/metrics"}

// lookFor is look, for a page that a server may have for each model, as llama.cpp's router
// has: where it refuses the request, the model's page is requested.
func (f fetcher) lookFor(ctx context.Context, parser *prom.Parser, address, model string) glance {
	got := f.look(ctx, parser, address)
	of := withModel(address, model)
	if got.status != http.StatusBadRequest || of == address {
		return got
	}
	if page := f.look(ctx, parser, of); page.isPage() {
		return page
	}
	return got
}

// modelQuery asks for the page of one model.
const modelQuery = "model"

// withModel adds the model to the address of a page.
func withModel(address, model string) string {
	u, err := url.Parse(address)
	if err != nil || model == "" {
		return address
	}
	query := u.Query()
	query.Set(modelQuery, model)
	u.RawQuery = query.Encode()
	return u.String()
}

// otherPages are pages that an engine or a gateway publishes at a port of their
// own: Triton, the gateways' endpoint pickers, SGLang's model gateway.
var otherPages = []struct{ port, path string }{{"8002", "/metrics"}, {"9090", "/metrics"}, {"29000", "/metrics"}}

// otherPorts looks at the usual other ports of the same host, all at once and
// without the user's key. Only a page with an engine's own metrics counts.
func (f fetcher) otherPorts(ctx context.Context) found {
	base, err := url.Parse(f.config.Base)
	if err != nil || base.Scheme != "http" {
		return found{}
	}
	f.config.Header = nil
	results := make([]found, len(otherPages))
	var wait sync.WaitGroup
	for i, page := range otherPages {
		if page.port == base.Port() {
			continue
		}
		wait.Add(1)
		guard.Go("metrics search", func(error) {}, func() {
			defer wait.Done()
			address := "http://" + net.JoinHostPort(base.Hostname(), page.port) + page.path
			results[i] = found{url: address, by: f.look(ctx, newSearchParser(), address).by()}
		})
	}
	wait.Wait()
	for _, r := range results {
		if r.by != nil {
			return r
		}
	}
	return found{}
}

// glance is the outcome of one request for a page that may hold metrics.
type glance struct {
	answer
	page  prom.Page
	err   error  // what is there instead of a metrics page
	fails string // why there was no answer
}

func (f fetcher) look(ctx context.Context, parser *prom.Parser, address string) glance {
	a, err := f.page(ctx, address)
	g := glance{answer: a}
	g.url = address
	switch {
	case err != nil:
		_, g.fails = f.explain(address, err, probeTimeout)
	case a.status == http.StatusOK:
		g.page, g.err = parser.Parse(a.body)
	}
	return g
}

func (g glance) isPage() bool { return g.fails == "" && g.status == http.StatusOK && g.err == nil }

// unreachable reports whether nothing can be said of the page: it may come back.
func (g glance) unreachable() bool {
	return g.fails != "" || g.status >= 500 && g.status != http.StatusNotImplemented
}

// by is the engine whose metrics the page holds; nil if it holds none.
func (g glance) by() *kinds.Kind {
	if all := on(g.page, kinds.All); len(all) > 0 {
		return all[0]
	}
	return nil
}

// why says why an answer is not a metrics page.
func (f fetcher) why(g glance, k *kinds.Kind) string {
	switch {
	case g.fails != "":
		return g.fails
	case g.err == nil:
		return f.pageRefusal(g.answer, k)
	case errors.Is(g.err, prom.ErrHTML) || errors.Is(g.err, prom.ErrJSON):
		if said := f.said(g.answer); said != "" && f.config.MetricsURL != "" {
			return fmt.Sprintf("%s: %v (%s); %s", g.where(), g.err, said, f.otherPage())
		}
	}
	return fmt.Sprintf("%s: %v; %s", g.where(), g.err, f.otherPage())
}
