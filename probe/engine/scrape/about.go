package scrape

import (
	"fmt"
	"strings"

	"sonde/probe/engine"
)

// about is a cheap probe that sends no prompt and changes nothing. read tells
// whether the answer is one: some servers answer any path with 200.
type about struct {
	path string
	read func(answer object, id *engine.Identity) bool
}

// version reads the field that most servers use.
func version(a object, id *engine.Identity) bool {
	id.Version = a.text("version")
	return id.Version != ""
}

// vllmAbout are the probes of vLLM. Its Rust front end tells its own version too.
var vllmAbout = []about{{"/version", func(a object, id *engine.Identity) bool {
	if rust := a.text("rust_frontend_version"); rust != "" {
		id.About = append(id.About, "Rust front end "+rust)
	}
	return version(a, id)
}}}

// llamacppAbout reads /props, which is there without a flag. n_ctx is per slot.
var llamacppAbout = []about{{"/props", func(a object, id *engine.Identity) bool {
	id.Version, _, _ = strings.Cut(a.text("build_info"), "-")
	id.MaxModelLen = orKeep(a.object("default_generation_settings").number("n_ctx"), id.MaxModelLen)
	id.MaxRunning = orKeep(a.number("total_slots"), id.MaxRunning)
	if how := a.text("model_ftype"); how != "" {
		id.About = append(id.About, "weights as "+how)
	}
	if on, known := a["endpoint_metrics"].(bool); known && !on {
		id.MetricsWhy = "llama-server: start with --metrics"
	}
	return id.Version != "" || id.MaxRunning > 0
}}}

// sglangAbout reads the server's arguments. The second path is that of before
// v0.5.
var sglangAbout = []about{{"/server_info", sglangArguments}, {"/get_server_info", sglangArguments}}

func sglangArguments(a object, id *engine.Identity) bool {
	id.MaxModelLen = orKeep(a.number("context_length"), id.MaxModelLen)
	id.MaxRunning = orKeep(a.number("max_running_requests"), id.MaxRunning)
	for _, size := range [][2]string{{"tp_size", "tensor parallel"}, {"dp_size", "data parallel"}} {
		if n := a.number(size[0]); n > 1 {
			id.About = append(id.About, fmt.Sprintf("%s %.0f", size[1], n))
		}
	}
	if mode := a.text("disaggregation_mode"); mode == "prefill" || mode == "decode" {
		id.About = append(id.About, "a "+mode+" worker")
	}
	return version(a, id)
}

// tgiAbout reads /info. max_input_tokens was max_input_length before v2.
var tgiAbout = []about{{"/info", func(a object, id *engine.Identity) bool {
	id.MaxModelLen = orKeep(a.number("max_total_tokens"), id.MaxModelLen)
	id.MaxInputLen = orKeep(a.number("max_input_length"), id.MaxInputLen)
	id.MaxInputLen = orKeep(a.number("max_input_tokens"), id.MaxInputLen)
	id.MaxRunning = orKeep(a.number("max_concurrent_requests"), id.MaxRunning)
	return version(a, id)
}}}

// nimAbout asks for the release, which is not that of the engine inside.
var nimAbout = []about{
	{"/v1/version", func(a object, id *engine.Identity) bool {
		id.Version = a.text("release")
		return id.Version != "" || version(a, id)
	}},
	{nimMetadata, nimRelease},
}

// nimMetadata is a path that only NIM has.
const nimMetadata = "/v1/metadata"

func nimRelease(a object, id *engine.Identity) bool {
	_, hasModels := a["modelInfo"]
	return version(a, id) && hasModels
}

// litellmAbout asks whether it is ready: /health would send a request to every model.
var litellmAbout = []about{{"/health/readiness", func(a object, id *engine.Identity) bool {
	id.Version = a.text("litellm_version")
	return id.Version != ""
}}}

// dynamoAbout asks for the workers behind a front end: a look into its discovery,
// which asks none of them.
var dynamoAbout = []about{{"/health", func(a object, id *engine.Identity) bool {
	if _, known := a["instances"]; !known {
		return false
	}
	workers := 0
	for _, instance := range a.list("instances") {
		if instance.text("endpoint") == "generate" { // a worker has further endpoints
			workers++
		}
	}
	id.About = append(id.About, fmt.Sprintf("%d with an endpoint that generates", workers))
	return true
}}}

// tritonAbout reads the protocol's own description of the server.
var tritonAbout = []about{{"/v2", func(a object, id *engine.Identity) bool {
	return a.text("name") == "triton" && version(a, id)
}}}

// lmstudioAbout reads LM Studio's own list for the context length. Its version is
// not told.
var lmstudioAbout = []about{{lmstudioModels, func(a object, id *engine.Identity) bool {
	for _, m := range a.list("data") {
		if m.text("id") == id.Model {
			id.MaxModelLen = orKeep(lmstudioContext(m).V, id.MaxModelLen)
			return true
		}
	}
	return false
}}}

// orKeep is a limit that was told, else the one that is known.
func orKeep(told float64, known int) int {
	if told > 0 && told < 1<<40 {
		return int(told)
	}
	return known
}
