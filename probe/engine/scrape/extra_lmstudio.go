package scrape

import (
	"errors"
	"fmt"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// LM Studio has no metrics page. Its own model list, since 0.3.6, says what is
// loaded. A server that does not have it writes an error into its user's log each
// time: it is asked but once.
var lmstudioExtras = []extraPage{
	{path: lmstudioModels, every: 5 * time.Second, once: true, read: readLMStudio, fields: []engine.Field{engine.FieldModelsLoaded, engine.FieldMaxModelLen}},
}

const lmstudioModels = "/api/v0/models"

// errOldLMStudio is a list of another form: unknown paths are answered with 200
// and an error.
var errOldLMStudio = errors.New("no list of models: LM Studio 0.3.6 or newer has one")

func readLMStudio(a answer, into filler) error {
	o, err := a.object()
	if err != nil {
		return err
	}
	if _, isList := o["data"]; !isList {
		return errOldLMStudio
	}
	loaded, seen := 0, false
	for _, m := range o.list("data") {
		if m.text("state") != "loaded" {
			continue
		}
		loaded++
		if m.text("id") == into.model {
			seen = true
			into.set(engine.FieldMaxModelLen, lmstudioContext(m), "loaded_context_length")
		}
	}
	into.set(engine.FieldModelsLoaded, opt.Of(float64(loaded)), "state")
	into.note("LM Studio tells no queue and no KV cache: TTFT may be waiting")
	if !seen {
		into.note(fmt.Sprintf("%s is not loaded: the first request loads it, which counts into its TTFT", into.model))
	}
	return nil
}

// lmstudioContext is the context length that a model was loaded with, else the
// longest that it can have.
func lmstudioContext(m object) opt.Float {
	if n := m.figure("loaded_context_length"); n.V > 0 {
		return n
	}
	return m.figure("max_context_length")
}
