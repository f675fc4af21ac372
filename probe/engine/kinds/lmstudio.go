package kinds

import (
	"errors"
	"fmt"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// lmstudio omits when a model was created, and logs an error for every
// path that it does not know.
var lmstudio = Kind{
	ID: "lmstudio", Name: "LM Studio",
	Entry: func(m Object) bool {
		_, created := m["created"]
		return m.Text("owned_by") == "organization_owner" && !created
	},
	NoPage: "LM Studio has no metrics page",
	About: []About{{lmstudioModels, func(a Object, id *engine.Identity) bool {
		for _, m := range a.List("data") {
			if m.Text("id") == id.Model {
				id.MaxModelLen = OrKeep(lmstudioContext(m).V, id.MaxModelLen)
				return true
			}
		}
		return false
	}}},
	// Since 0.3.6. An older server writes an error into its user's log each time, so it is
	// asked only once.
	Extra: []Extra{
		{Path: lmstudioModels, Every: 5 * time.Second, Once: true, Read: readLMStudio, Fields: []engine.Field{engine.FieldModelsLoaded, engine.FieldMaxModelLen}},
	},
}

const lmstudioModels = "/api/v0/models"

func readLMStudio(b Body, into Into) error {
	o, err := b.Object()
	if err != nil {
		return err
	}
	if _, isList := o["data"]; !isList { // unknown paths are answered with 200 and an error
		return errors.New("no list of models: needs LM Studio 0.3.6 or newer")
	}
	loaded, seen := 0, false
	for _, m := range o.List("data") {
		if m.Text("state") != "loaded" {
			continue
		}
		loaded++
		if m.Text("id") == into.Wanted {
			seen = true
			into.Set(engine.FieldMaxModelLen, lmstudioContext(m), "loaded_context_length")
		}
	}
	into.Set(engine.FieldModelsLoaded, opt.Of(float64(loaded)), "state")
	into.Note("LM Studio reports neither queue nor KV cache: part of TTFT may be waiting")
	if !seen {
		into.Note(fmt.Sprintf("%s is not loaded: the first request loads it, which counts toward its TTFT", into.Wanted))
	}
	return nil
}

// lmstudioContext is the context length that a model was loaded with, else the
// longest that it can have.
func lmstudioContext(m Object) opt.Float {
	if n := m.Figure("loaded_context_length"); n.V > 0 {
		return n
	}
	return m.Figure("max_context_length")
}
