package engine

import (
	"context"
	"net/http"

	"sonde/probe/promtext"
)

// found is the outcome of the search for a metrics page.
type found struct {
	url string // where it is worth polling; "" = nowhere
	why string // why it is nowhere
	by  *kind  // whose names are on the page; nil if it is nobody's or not known
}

// findMetrics looks for the page of an engine that is known (k) or not (nil), at
// every likely place once.
func (f fetcher) findMetrics(ctx context.Context, k *kind) found {
	switch {
	case f.config.MetricsURL == metricsOff:
		return found{why: "switched off with --metrics off"}
	case f.config.MetricsURL != "":
		given := f.config.givenMetrics()
		return found{url: given, by: f.look(ctx, given).by}
	case k != nil && k.noPage != "":
		return found{why: k.noPage}
	}
	paths := commonPaths
	if k == nil {
		k = &kind{}
	} else if k.paths != nil {
		paths = k.paths
	}
	var best found
	for _, path := range paths {
		got := f.look(ctx, f.config.at(path))
		switch {
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

// glance is what one look at a possible metrics page shows.
type glance struct {
	answer
	text        bool  // it is a metrics page
	by          *kind // whose
	unreachable bool  // no answer, or a server error
	err         error // what it is instead of a metrics page
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
	page, err := promtext.Parse(a.body, engineNames)
	if err != nil {
		g.err = err
		return g
	}
	g.text, g.by = true, publisher(page)
	return g
}

// why says why an answer is no metrics page.
func (g glance) why(k *kind) string {
	if g.err != nil {
		return notMetrics(g.url, g.err)
	}
	return pageRefusal(g.answer, k)
}
