package scrape

import (
	"context"
	"encoding/json"
	"net/http"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/prom"
	"sonde/probe/roofline"
)

// CountTokens asks the engine's own tokenizer how many tokens a prompt has, as a chat
// message with the template around it or as plain text. It generates nothing. It is not
// ok if the engine has no such tokenizer or does not answer.
func CountTokens(ctx context.Context, c Config, id engine.Identity, prompt string, chat bool) (tokens int, ok bool) {
	questions := kinds.ByID(id.Kind).Tokenize.Plain
	if chat {
		questions = kinds.ByID(id.Kind).Tokenize.Chat
	}
	for _, q := range questions {
		response, ok := newFetcher(c).askJSON(ctx, q.Path, q.Body(id.Model, prompt))
		if !ok {
			return 0, false
		}
		if prompt, tokens = q.Read(response); prompt == "" && tokens == 0 {
			return 0, false
		}
	}
	return tokens, tokens > 0
}

// AskModel asks the engine about the shape of its model. It sends a few requests, none of
// them a prompt; what the engine does not report is zero.
func AskModel(ctx context.Context, c Config, id engine.Identity) roofline.ModelInfo {
	shape := kinds.ByID(id.Kind).Shape
	if shape == nil {
		return roofline.ModelInfo{}
	}
	return shape(ctx, asker{newFetcher(c), id.MetricsURL}, id.Model)
}

// asker is the kinds.Asker of an engine.
type asker struct {
	fetcher
	metrics string // URL of its metrics page; "" = none
}

func (a asker) Ask(ctx context.Context, path string, body any) (kinds.Object, bool) {
	response, _ := a.askJSON(ctx, path, body)
	o, isObject := response.(map[string]any)
	return o, isObject
}

func (a asker) ModelEntry(ctx context.Context, model string) kinds.Object {
	l, err := a.models(ctx)
	if err != nil {
		return nil
	}
	return l.entry(model)
}

func (a asker) Labels(ctx context.Context, family string) []map[string]string {
	if a.metrics == "" {
		return nil
	}
	r, err := a.page(ctx, a.metrics)
	if err != nil || r.status != http.StatusOK {
		return nil
	}
	page, _ := prom.Parse(r.body, func(name string) bool { return name == family }) // empty with an error
	var out []map[string]string
	for _, s := range page.Samples(family) {
		out = append(out, s.Labels)
	}
	return out
}

// askJSON sends a GET, or a POST if there is a body, to a path of the server and returns
// the JSON that comes back.
func (f fetcher) askJSON(ctx context.Context, path string, body any) (response any, ok bool) {
	c := forJSON(f.config.rootAt(path), probeTimeout)
	if body != nil {
		var err error
		if c.body, err = json.Marshal(body); err != nil {
			return nil, false
		}
	}
	a, err := f.send(ctx, c)
	return response, err == nil && a.status == http.StatusOK && json.Unmarshal(a.body, &response) == nil
}
