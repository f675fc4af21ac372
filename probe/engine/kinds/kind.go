// Package kinds holds what is known about each inference engine, as data: how to
// recognise it, where it publishes which metric, which further pages say more, and what
// to tell the user when something is missing. A new engine is a file here, its line in
// All, and a page of it in the testdata of the package that reads pages.
package kinds

import (
	"context"
	"maps"
	"slices"
	"time"

	"sonde/probe/engine"
	"sonde/probe/roofline"
)

// Kind is all that is known about one engine.
type Kind struct {
	ID, Name string

	// Marks in the response that brings the model list. One is enough.
	OwnedBy []string                // owned_by of the model
	Server  string                  // what the Server header starts with
	Header  string                  // a header that only this engine sends
	Entry   func(model Object) bool // something else in the model's entry

	// Confirm is probed where other engines have the same marks in their model lists; nil:
	// the marks are enough.
	Confirm *About

	// Marks on a metrics page: what the names of its metrics start with, and labels that
	// some of those series must have, or none of them.
	Prefixes      []string
	With, Without []string

	PassesOn bool // it publishes metrics under the names of other engines

	Paths   []string // where its metrics page can be; nil = the usual places
	NoPage  string   // why its metrics page is not looked for, and what to do
	Missing string   // what to do when there is no such page
	Empty   string   // what to do when the page holds no engine metrics
	GPUPath string   // page with GPU metrics that it serves itself

	About []About       // probes for version and limits; the first that answers counts
	Table *Table        // how to read its metrics; nil: not read
	Extra []Extra       // further pages that are read in the same scrape
	Every time.Duration // least time between two scrapes, where they cost the engine something

	Tokenize Tokenizer                                                             // how it counts the tokens of a prompt
	Shape    func(ctx context.Context, ask Asker, model string) roofline.ModelInfo // of the model; nil: not reported
}

// About is a cheap probe that sends no prompt and changes nothing. Read reports whether
// the response is one: some servers answer any path with 200.
type About struct {
	Path string
	Read func(response Object, id *engine.Identity) bool
}

// version reads the field that most servers use.
func version(a Object, id *engine.Identity) bool {
	id.Version = a.Text("version")
	return id.Version != ""
}

var versionAbout = []About{{"/version", version}}

// OrKeep is a limit that was reported, else the one that is known.
func OrKeep(reported float64, known int) int {
	if reported > 0 && reported < 1<<40 {
		return int(reported)
	}
	return known
}

// All are the known engines. The order decides where several match: our own engine
// publishes vLLM's names, gateways repeat the owner of the engine behind them, and
// vLLM's names appear on the pages of others.
var All = []*Kind{
	&Sim, &litellm, &llamacpp, &nodeLlamaCpp, &sglang, &TRTLLM, &tgi, &lmdeploy,
	&mlc, &Ollama, &lmstudio, &llmd, &epp, &sglangGateway, &dynamo,
	&productionStack, &kserve, &tritonVLLM, &VLLM, &triton, &tritonOther, &trtllmBare, &NIM, &dynamoWorker,
}

// ByID returns an engine by its Identity.Kind; an empty one if it is unknown.
func ByID(id string) *Kind {
	for _, k := range All {
		if k.ID == id {
			return k
		}
	}
	return &Kind{}
}

// Offers are the fields that some version of an engine publishes, on its metrics page or
// on another page. No setting of the engine brings any other field.
func Offers(id string) []engine.Field {
	var out []engine.Field
	for _, k := range All {
		if k.ID != id {
			continue
		}
		if k.Table != nil {
			out = slices.AppendSeq(out, maps.Keys(k.Table.Fields))
			if len(k.Table.Config) > 0 {
				out = append(out, engine.FieldKVCapacity)
			}
		}
		for _, e := range k.Extra {
			out = append(out, e.Fields...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
