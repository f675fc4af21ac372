package scrape

import (
	"context"
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
	by  *kinds.Kind // whose names are on the page; nil if it is nobody's or not known
}

// findMetrics looks for the page of an engine that is known (k) or not (nil), at
// every likely place once. model is the one that requests name.
func (f fetcher) findMetrics(ctx context.Context, k *kinds.Kind, model string) found {
	switch {
	case f.config.MetricsURL == metricsOff:
		return found{why: "switched off with --metrics off"}
	case f.config.MetricsURL != "":
		given := f.config.givenMetrics()
		return found{url: given, by: f.look(ctx, given).by}
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
		got := f.lookFor(ctx, f.config.rootAt(path), k, model)
		switch {
		case got.iterations:
			return found{why: got.why(&kinds.TRTLLM), by: &kinds.TRTLLM}
		case got.by != nil:
			return found{url: got.url, by: got.by}
		case got.unreachable && best.url == "":
			return found{url: got.url} // it may come back: keep asking there
		case got.text && best.url == "":
			best.url = got.url
		case !got.text && best.why == "":
			best.why = got.why(k)
		}
	}
	if best.url != "" {
		best.why = ""
	}
	return best
}

// commonPaths are the places where metrics pages are found.
var commonPaths = []string{"/metrics", "/v1/metrics", "/prometheus/metrics"}

// lookFor is look for the page of an engine that may have one for each model, and
// then asks for the model's name.
func (f fetcher) lookFor(ctx context.Context, address string, k *kinds.Kind, model string) glance {
	got := f.look(ctx, address)
	if k.PagePerModel && got.status == http.StatusBadRequest && model != "" {
		return f.look(ctx, address+modelQuery+url.QueryEscape(model))
	}
	return got
}

// modelQuery asks for the page of one model.
const modelQuery = "?model="

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
			if got := f.look(ctx, address); got.by != nil {
				results[i] = found{url: address, by: got.by}
			}
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

// glance is what one look at a possible metrics page shows.
type glance struct {
	answer
	text        bool        // it is a metrics page
	by          *kinds.Kind // whose
	unreachable bool        // no answer, or a server error
	iterations  bool        // it is TensorRT-LLM's list of iterations, which we have just taken
	err         error       // what it is instead of a metrics page
}

func (f fetcher) look(ctx context.Context, address string) glance {
	a, err := f.page(ctx, address)
	g := glance{answer: a}
	g.url = address
	if err != nil || a.status >= 500 && a.status != http.StatusNotImplemented {
		g.unreachable = true
		return g
	}
	if a.status != http.StatusOK {
		return g
	}
	page, err := prom.Parse(a.body, engineNames)
	if err != nil {
		g.err, g.iterations = err, kinds.IsIterations(a.body)
		return g
	}
	g.text, g.by = true, publisher(page)
	return g
}

// why says why an answer is no metrics page.
func (g glance) why(k *kinds.Kind) string {
	if g.err != nil {
		return notMetrics(g.url, g.err)
	}
	return pageRefusal(g.answer, k)
}
