package scrape

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"sonde/probe/engine/kinds"
	"sonde/probe/measure"
)

// modelList is what a server's model list says.
type modelList struct {
	header http.Header
	models []kinds.Object
}

// ids returns the names of all models.
func (l modelList) ids() []string {
	var ids []string
	for _, m := range l.models {
		if id := m.Text("id"); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// entry returns the entry of a model, or else the first.
func (l modelList) entry(id string) kinds.Object {
	for _, m := range l.models {
		if m.Text("id") == id {
			return m
		}
	}
	if len(l.models) > 0 {
		return l.models[0]
	}
	return nil
}

// models fetches the model list. The error is a *ListError.
func (f fetcher) models(ctx context.Context) (modelList, error) {
	addresses := []string{f.config.at("/v1/models"), f.config.at("/models")}
	if f.config.ModelsURL != "" {
		addresses = []string{f.config.ModelsURL}
	}
	var header http.Header
	var first error
	for _, address := range addresses {
		found, err := f.modelsAt(ctx, address)
		if err == nil || !notFound(err) {
			return found, err
		}
		if first == nil {
			header, first = found.header, err
		}
	}
	return modelList{header: header}, first
}

// notFound reports whether the server is there but has no model list at the address.
func notFound(err error) bool {
	e, ok := err.(*ListError)
	return ok && e.Status == http.StatusNotFound
}

func (f fetcher) modelsAt(ctx context.Context, address string) (modelList, error) {
	a, err := f.send(ctx, forJSON(address, listTimeout))
	if err != nil {
		class, says := f.explain(address, err, listTimeout)
		if class == measure.Timeout { // it took the connection
			says += ": is the server stuck, is the port right?"
		}
		return modelList{}, &ListError{Class: class, Says: says}
	}
	if a.status != http.StatusOK {
		return modelList{header: a.header}, refusal(a)
	}
	var doc any
	if err := json.Unmarshal(a.body, &doc); err != nil {
		what := "not JSON"
		if bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("<")) {
			what = "HTML, not JSON"
		}
		return modelList{header: a.header}, badReply(a, what)
	}
	models, ok := entries(doc)
	if !ok {
		return modelList{header: a.header}, badReply(a, "JSON without a model list")
	}
	return modelList{header: a.header, models: models}, nil
}

// entries finds the models in a list. Some servers answer with the bare array.
func entries(doc any) ([]kinds.Object, bool) {
	if _, bare := doc.([]any); bare {
		return kinds.Objects(doc), true
	}
	o, _ := doc.(map[string]any)
	_, hasData := o["data"]
	return kinds.Objects(o["data"]), hasData
}

func badReply(a answer, what string) error {
	return &ListError{
		Class: measure.BadReply, Status: a.status,
		Says: fmt.Sprintf("%s answers %s: is this the address of an OpenAI-compatible server?", shown(a.url), what) + through(a.proxy),
	}
}
