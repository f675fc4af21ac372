package scrape

import (
	"fmt"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// Ollama has no metrics page. /api/ps says which models are loaded and where, and
// loads none itself.
var ollamaExtras = []extraPage{
	{path: "/api/ps", every: 5 * time.Second, read: readLoaded, fields: []engine.Field{engine.FieldModelsLoaded, engine.FieldMaxModelLen, engine.FieldGPUShare}},
}

// What Ollama does with a load, which no page of it shows.
const ollamaQueue = "Ollama tells no queue: of streams beyond OLLAMA_NUM_PARALLEL the TTFT is mostly waiting"

// readLoaded reads GET /api/ps: an object per loaded model. Context lengths are
// told since 0.9.
func readLoaded(a answer, into filler) error {
	o, err := a.object()
	if err != nil {
		return err
	}
	loaded := o.list("models")
	into.set(engine.FieldModelsLoaded, opt.Of(float64(len(loaded))), "models")
	into.note(ollamaQueue)
	for _, m := range loaded {
		if sameOllamaModel(m.text("name"), into.model) {
			readLoadedModel(m, into)
			return nil
		}
	}
	into.note(fmt.Sprintf("%s is not loaded: the first request loads it, which counts into its TTFT", into.model))
	return nil
}

func readLoadedModel(m object, into filler) {
	into.set(engine.FieldMaxModelLen, m.figure("context_length"), "context_length")
	if !into.MaxModelLen.OK {
		into.note("this Ollama does not tell its context length: it cuts a longer prompt without a word, see the prompt's tokens; newer ones tell")
	}
	size, onGPU := m.figure("size"), m.figure("size_vram")
	if size.V > 0 && onGPU.OK {
		share := min(onGPU.V/size.V, 1)
		into.set(engine.FieldGPUShare, opt.Of(share), "size_vram / size")
		into.note(gpuShare(m.text("name"), size.V, share))
	}
}

// gpuShare says where a model of that many bytes lies.
func gpuShare(name string, bytes, share float64) string {
	where := fmt.Sprintf("%.0f %% of it in GPU memory: the rest runs on the CPU", share*100)
	switch share {
	case 0:
		where = "none of it in GPU memory: it runs on the CPU"
	case 1:
		where = "all of it in GPU memory"
	}
	return fmt.Sprintf("%s is loaded, %.2g GB, %s", name, bytes/1e9, where)
}

// sameOllamaModel compares names; a tag that is not given is "latest".
func sameOllamaModel(a, b string) bool {
	tagged := func(name string) string {
		if strings.Contains(name, ":") {
			return name
		}
		return name + ":latest"
	}
	return strings.EqualFold(tagged(a), tagged(b))
}
