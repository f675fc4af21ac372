package engine

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// Detect finds out which engine answers, and where it publishes its metrics. It
// sends a few GET requests and no prompt. The error, a *ListError, says why the
// model list cannot be had; the identity then holds what is known without it.
func Detect(ctx context.Context, c Config) (Identity, error) {
	f := newFetcher(c)
	models, err := f.models(ctx)
	id := Identity{Model: c.Model, Models: models.ids()}
	if err != nil && !notFound(err) {
		id.MetricsWhy = "the engine is not known yet"
		return id, err
	}
	if id.Model == "" && len(id.Models) > 0 {
		id.Model = id.Models[0]
	}
	entry := models.entry(id.Model)
	id.MaxModelLen = maxModelLen(entry)

	f.recognise(ctx, f.confirmed(ctx, kindByList(models.header, entry)), models.header, &id)
	return id, err
}

// confirmed asks whether the model list has told right, where that is in doubt; nil
// if it has not.
func (f fetcher) confirmed(ctx context.Context, k *kind) *kind {
	if k == nil || k.confirm == nil {
		return k
	}
	if a, ok := f.askJSON(ctx, k.confirm.path); ok && k.confirm.is(a) {
		return k
	}
	return nil
}

// recognise finds the engine and its metrics page. What an engine says about itself
// goes first: it may say that it has no such page.
func (f fetcher) recognise(ctx context.Context, k *kind, header http.Header, id *Identity) {
	asked := k != nil
	if asked {
		id.be(k)
		f.ask(ctx, k, id)
	}
	page := found{why: id.MetricsWhy}
	if f.config.MetricsURL != "" || k == nil || id.MetricsWhy == "" {
		page = f.findMetrics(ctx, k, id.Model)
	}
	if k == nil && page.by == nil && f.config.MetricsURL == "" {
		if f.askOllama(ctx, id); id.Kind != "" {
			return
		}
	}
	if page.by == nil && f.config.MetricsURL == "" && (k == nil || throughEnvoy(header) && page.url == "") {
		if elsewhere := f.otherPorts(ctx); elsewhere.by != nil {
			page = elsewhere
		}
	}
	if k == nil {
		k = page.by
	}
	id.MetricsURL, id.MetricsWhy = page.url, page.why
	if k == nil {
		return
	}
	if id.be(k); !asked {
		f.ask(ctx, k, id)
	}
	if f.config.MetricsURL != "" {
		id.MetricsURL, id.MetricsWhy = page.url, page.why // what the engine would need does not matter
	}
	if k.gpuPath != "" {
		id.GPUURL = f.config.at(k.gpuPath)
	}
}

// throughEnvoy tells that the answer came through the proxy that stands before an
// inference gateway's servers.
func throughEnvoy(header http.Header) bool { return strings.EqualFold(header.Get("Server"), "envoy") }

// be makes an identity that of a known engine.
func (id *Identity) be(k *kind) {
	id.Kind, id.Name = k.id, k.name
	if id.MetricsURL == "" && k.noPage != "" {
		id.MetricsWhy = k.noPage
	}
}

// maxModelLen reads the context length that some model lists carry, in tokens.
func maxModelLen(entry object) int {
	if n := entry.number("max_model_len"); n > 0 {
		return int(n)
	}
	return int(entry.object("meta").number("n_ctx")) // llama.cpp
}

// askOllama recognises the one engine that neither its model list nor its metrics
// give away for certain: Ollama calls the owner of a model what its user chose.
// SGLang has most of Ollama's paths, but not this one.
func (f fetcher) askOllama(ctx context.Context, id *Identity) {
	f.ask(ctx, &ollamaKind, id)
	if id.Version != "" {
		id.be(&ollamaKind)
	}
}

// ask sends the engine's probes for version and limits until one answers.
func (f fetcher) ask(ctx context.Context, k *kind, id *Identity) {
	for _, about := range k.about {
		if a, ok := f.askJSON(ctx, about.path); ok {
			about.read(a, id)
			return
		}
	}
}

// askJSON gets a JSON object from a path under the base.
func (f fetcher) askJSON(ctx context.Context, path string) (object, bool) {
	a, err := f.get(ctx, probe(f.config.at(path)))
	if err != nil || a.status != http.StatusOK {
		return nil, false
	}
	var o object
	if err := json.Unmarshal(a.body, &o); err != nil {
		return nil, false
	}
	return o, true
}
