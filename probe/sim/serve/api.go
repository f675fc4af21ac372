// Package serve is the HTTP side of the embedded engine: the OpenAI API, the page of
// metrics, the page of the GPUs, and the paths that change its faults.
package serve

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sonde/probe/sim/core"
	"sonde/probe/sim/faults"
)

// How the engine identifies itself.
const (
	serverName    = "sonde-sim"
	serverVersion = "0.1.0"
	modelPrefix   = "sim/"          // of the model's id: this is a simulation of it
	hardwarePath  = "/dcgm/metrics" // GPU page, in the form of a DCGM exporter
)

// API is the engine's HTTP interface.
type API struct {
	setup     *core.Setup
	driver    *core.Driver
	timetable *faults.Timetable
	modelID   string
	created   int64 // Unix seconds
	handler   http.Handler
	pieces    pieces        // tokens that can be turned back into text
	requests  atomic.Uint64 // numbers the ids of answers
}

// New makes the interface of an engine whose driver m observes.
func New(s *core.Setup, d *core.Driver, t *faults.Timetable, m *metrics) *API {
	a := &API{setup: s, driver: d, timetable: t, modelID: modelID(s), created: time.Now().Unix()}
	a.handler = a.routes(m.serve(s, d.Snapshot), newHardware(s, d.Snapshot))
	return a
}

func modelID(s *core.Setup) string { return modelPrefix + s.Served.FullName }

// ServeHTTP implements http.Handler.
func (s *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *API) routes(engine, hardware *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.unlessLoading(s.chat))
	mux.HandleFunc("POST /v1/completions", s.unlessLoading(s.completions))
	mux.HandleFunc("POST /tokenize", s.unlessLoading(s.tokenize))
	mux.HandleFunc("POST /detokenize", s.unlessLoading(s.detokenize))
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /version", s.version)
	mux.HandleFunc("GET /health", s.unlessLoading(s.health))
	mux.HandleFunc("/ping", s.unlessLoading(s.health))
	mux.Handle(faultsPath, s.adminFaults())
	mux.Handle(scenarioPath, s.adminScenario())
	mux.Handle("GET /metrics", promhttp.HandlerFor(engine, promhttp.HandlerOpts{}))
	mux.Handle("GET "+hardwarePath, promhttp.HandlerFor(hardware, promhttp.HandlerOpts{}))
	mux.HandleFunc("/", s.unknownPath)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", serverName)
		mux.ServeHTTP(w, r)
	})
}

// unlessLoading answers 503 while the model loads on request.
func (s *API) unlessLoading(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.timetable.Faults().Loading {
			errLoading.write(w)
			return
		}
		h(w, r)
	}
}

func (s *API) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.modelID, "object": "model", "created": s.created, "owned_by": serverName,
		"root": s.modelID, "parent": nil, "max_model_len": s.setup.MaxModelLen,
	}}})
}

// version also says what is simulated, and where the GPU page is.
func (s *API) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"version": serverVersion, "engine": serverName,
		"simulates": s.setup.Describe(), "gpu_metrics": hardwarePath,
	})
}

// health answers 200 with an empty body while the engine runs.
func (s *API) health(w http.ResponseWriter, _ *http.Request) {
	if !s.driver.IsRunning() {
		errNotRunning.write(w)
	}
}

func (s *API) unknownPath(w http.ResponseWriter, r *http.Request) {
	e := &apiError{status: http.StatusNotFound, kind: "NotFoundError", code: http.StatusNotFound, message: "this engine has no " + r.Method + " " + r.URL.Path}
	e.write(w)
}
