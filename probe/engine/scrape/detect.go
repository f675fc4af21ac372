package scrape

import (
	"context"
	"net/http"
	"strings"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
)

// Detect finds out which engine answers, and where it publishes its metrics. It
// sends a few GET requests and no prompt. The error, a *ListError, says why the
// model list cannot be had; the identity then holds what is known without it.
func Detect(ctx context.Context, c Config) (engine.Identity, error) {
	f := newFetcher(c)
	f.seen = map[string]kinds.Object{}
	models, err := f.models(ctx)
	id := engine.Identity{Model: c.Model, Models: models.ids()}
	if err != nil && !notFound(err) {
		id.MetricsWhy = "the engine is not known yet"
		return id, err
	}
	if id.Model == "" {
		id.Model, id.NoChat = models.choose()
	}
	entry := models.entry(id.Model)
	id.MaxModelLen = maxModelLen(entry)

	f.recognise(ctx, f.confirmed(ctx, kindByList(models.header, entry)), models.header, &id)
	return id, err
}

// confirmed checks what the model list says, where that is in doubt; nil if it is
// wrong.
func (f fetcher) confirmed(ctx context.Context, k *kinds.Kind) *kinds.Kind {
	if k == nil || k.Confirm == nil {
		return k
	}
	if a, ok := f.object(ctx, k.Confirm.Path); ok && k.Confirm.Read(a, &engine.Identity{}) {
		return k
	}
	return nil
}

// recognise finds the engine and its metrics page. What an engine says about itself
// goes first: it may say that it has no such page.
func (f fetcher) recognise(ctx context.Context, k *kinds.Kind, header http.Header, id *engine.Identity) {
	asked := k != nil
	if asked {
		become(id, k)
		f.ask(ctx, k, id)
	}
	page := found{why: id.MetricsWhy}
	if f.config.MetricsURL != "" || k == nil || id.MetricsWhy == "" {
		page = f.findMetrics(ctx, k, id.Model)
	}
	// Neither a model list nor a page identifies Ollama with certainty: its user chooses what
	// a model's owner is called. SGLang has most of Ollama's paths, but not this one.
	if k == nil && page.by == nil && f.config.MetricsURL == "" && f.ask(ctx, &kinds.Ollama, id) {
		become(id, &kinds.Ollama)
		return
	}
	if page.by == nil && f.config.MetricsURL == "" && (k == nil || throughEnvoy(header) && page.url == "") {
		if elsewhere := f.otherPorts(ctx); elsewhere.by != nil {
			page = elsewhere
		}
	}
	if by := f.inside(ctx, decide(k, page.by), page.url); by != k {
		forget(id)
		k, asked = by, false
	}
	id.MetricsURL, id.MetricsWhy = page.url, page.why
	if k == nil {
		return
	}
	if become(id, k); !asked {
		f.ask(ctx, k, id)
	}
	if f.config.MetricsURL != "" {
		id.MetricsURL, id.MetricsWhy = page.url, page.why // what the engine would need does not matter
	}
	if k.GPUPath != "" {
		id.GPUURL = f.config.at(k.GPUPath)
	}
}

// decide weighs the engine that the model list shows, nil if it shows none, against the one
// whose names are on the metrics page. Gateways repeat the owner of the engine behind them,
// and proxies rewrite lists but not metrics, so the page goes first. But some engines publish
// the names of others, and an endpoint picker reports on a pool, not on the server that
// answered.
func decide(list, page *kinds.Kind) *kinds.Kind {
	switch {
	case list == nil:
		return page
	case page == nil, page.ID == list.ID, list.PassesOn, page.Table != nil && page.Table.MeanFill:
		return list
	}
	return page
}

// inside looks whether an engine runs inside a NIM, which passes its page on at a
// place where that engine itself has none.
func (f fetcher) inside(ctx context.Context, k *kinds.Kind, page string) *kinds.Kind {
	if k == nil || k.PassesOn || page != f.config.rootAt(kinds.NIMMetrics) {
		return k
	}
	if a, ok := f.object(ctx, kinds.NIMMetadata); ok && kinds.NIMRelease(a, &engine.Identity{}) {
		return &kinds.NIM
	}
	return k
}

// forget removes the answers of an engine that turned out to be another one.
func forget(id *engine.Identity) {
	id.Version, id.About, id.MaxInputLen, id.MaxRunning = "", nil, 0, 0
}

// throughEnvoy reports whether the answer came through the proxy that stands before an
// inference gateway's servers.
func throughEnvoy(header http.Header) bool { return strings.EqualFold(header.Get("Server"), "envoy") }

// become makes an identity that of a known engine.
func become(id *engine.Identity, k *kinds.Kind) {
	id.Kind, id.Name = k.ID, k.Name
	if id.MetricsURL == "" && k.NoPage != "" {
		id.MetricsWhy = k.NoPage
	}
}

// maxModelLen reads the context length that some model lists carry, in tokens.
func maxModelLen(entry kinds.Object) int {
	if n := entry.Number("max_model_len"); n > 0 {
		return int(n)
	}
	return int(entry.Object("meta").Number("n_ctx")) // llama.cpp
}

// ask sends the engine's probes for version and limits until one is answered.
func (f fetcher) ask(ctx context.Context, k *kinds.Kind, id *engine.Identity) bool {
	for _, about := range k.About {
		if a, ok := f.object(ctx, about.Path); ok && about.Read(a, id) {
			return true
		}
	}
	return false
}

// object gets a JSON object from a path of the server; during detection, each path once.
func (f fetcher) object(ctx context.Context, path string) (kinds.Object, bool) {
	o, asked := f.seen[path]
	if !asked {
		response, _ := f.askJSON(ctx, path, nil)
		o, _ = response.(map[string]any)
		f.seen[path] = o
	}
	return o, o != nil
}
