package scrape

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"sonde/probe/prom"
)

// kind is all that is known about one engine: how it gives itself away, where it
// publishes what, and what to tell the user when it does not.
type kind struct {
	id, name string

	// Marks in the answer that brings the model list. One is enough.
	ownedBy []string                // owned_by of the model
	server  string                  // what the Server header starts with
	header  string                  // a header that only this engine sends
	entry   func(model object) bool // something else in the model's entry

	// confirm is asked where others bear the same marks in their model lists; nil:
	// the marks are enough.
	confirm *confirmation

	// Marks on a metrics page: what the names of its metrics start with, and labels
	// that some of those series must have, or none of them.
	prefixes      []string
	with, without []string

	passesOn bool // it publishes metrics under the names of other engines

	paths        []string // where its metrics page can be; nil = commonPaths
	pagePerModel bool     // a page for each model: without ?model= it answers 400
	noPage       string   // why its metrics page is not looked for; the way out
	missing      string   // the way out when there is no such page
	empty        string   // the way out when the page holds no engine metrics
	gpuPath      string   // page with GPU metrics that it serves itself

	about []about       // probes for version and limits; the first that answers counts
	table *table        // how to read its metrics; nil: not read
	extra []extraPage   // further pages that are read in the same scrape
	every time.Duration // least time between two scrapes, where they cost the engine something
}

// confirmation is a cheap probe that only this engine answers in this way.
type confirmation struct {
	path string
	is   func(answer object) bool
}

// commonPaths are the places where metrics pages are found.
var commonPaths = []string{"/metrics", "/v1/metrics", "/prometheus/metrics"}

// kinds is the list of known engines. To read a new one, write its kind with its
// table in a file of its own, as in kind_vllm.go, put it here, and add a page of it
// to testdata with what it says to expected.json. The order decides where several
// match: our own engine publishes vLLM's names, gateways repeat the owner of the
// engine behind them, and vLLM's names appear on the pages of others.
var kinds = []*kind{
	&simKind, &litellmKind, &llamacppKind, &nodeLlamaCppKind, &sglangKind, &trtllmKind, &tgiKind, &lmdeployKind,
	&mlcKind, &ollamaKind, &lmstudioKind, &llmdKind, &eppKind, &sglangGatewayKind, &dynamoKind,
	&productionStackKind, &kserveKind, &tritonVLLMKind, &vllmKind, &tritonKind, &tritonOtherKind, &trtllmBareKind, &nimKind, &dynamoWorkerKind,
}

// kindByList decides by the answer that brought the model list; nil if it does not tell.
func kindByList(header http.Header, model object) *kind {
	for _, k := range kinds {
		if k.sent(header) {
			return k
		}
	}
	owner := model.text("owned_by")
	for _, k := range kinds {
		for _, o := range k.ownedBy {
			if strings.EqualFold(o, owner) {
				return k
			}
		}
		if k.entry != nil && model != nil && k.entry(model) {
			return k
		}
	}
	return nil
}

// sent tells whether the headers of an answer can only be this engine's.
func (k *kind) sent(header http.Header) bool {
	server := strings.ToLower(header.Get("Server"))
	return k.server != "" && strings.HasPrefix(server, k.server) || k.header != "" && header.Get(k.header) != ""
}

// publishes tells whether a metric's name is one of this engine's.
func (k *kind) publishes(metric string) bool {
	for _, prefix := range k.prefixes {
		if strings.HasPrefix(metric, prefix) {
			return true
		}
	}
	return false
}

// on tells whether a page, with these names, holds this engine's metrics.
func (k *kind) on(page prom.Page, names []string) bool {
	with := false
	for _, name := range names {
		if !k.publishes(name) {
			continue
		}
		if with = with || len(k.with) == 0; with && len(k.without) == 0 {
			return true
		}
		for _, s := range page.Samples(name) {
			if len(k.without) > 0 && hasAll(s.Labels, k.without) {
				return false
			}
			with = with || hasAll(s.Labels, k.with)
		}
	}
	return with
}

func hasAll(labels map[string]string, want []string) bool {
	return !slices.ContainsFunc(want, func(label string) bool { return labels[label] == "" })
}

// kindByID returns an engine by its Identity.Kind; an empty kind if it is unknown.
func kindByID(id string) *kind {
	for _, k := range kinds {
		if k.id == id {
			return k
		}
	}
	return &kind{}
}

// Kinds are the ids of all engines that detection can name.
func Kinds() []string {
	var ids []string
	for _, k := range kinds {
		if !slices.Contains(ids, k.id) {
			ids = append(ids, k.id)
		}
	}
	return ids
}
