// Package serve is the HTTP side of the embedded engine: the OpenAI API, the page of
// metrics, the page of the GPUs, and the paths that change its faults.
package serve

import (
	"net/http"
	"strings"
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
	mux       *http.ServeMux
	texts     *tokenTexts
	requests  atomic.Uint64 // numbers the ids of answers
}

// New makes the interface of an engine whose driver m observes.
func New(s *core.Setup, d *core.Driver, t *faults.Timetable, m *Metrics) *API {
	a := &API{setup: s, driver: d, timetable: t, modelID: modelID(s), created: time.Now().Unix(), mux: http.NewServeMux(), texts: newTokenTexts()}
	for pattern, h := range map[string]handler{
		"POST /v1/chat/completions": a.unlessLoading(a.generate(&chatDialect)),
		"POST /v1/completions":      a.unlessLoading(a.generate(&completionDialect)),
		"POST /tokenize":            a.unlessLoading(a.tokenize),
		"POST /detokenize":          a.unlessLoading(a.detokenize),
		"GET /v1/models":            a.models,
		"GET /v1/models/{id...}":    a.model,
		"GET /version":              a.version,
		"GET /health":               a.unlessLoading(a.health),
		"/ping":                     a.unlessLoading(a.health),
		"/sim/faults":               a.adminFaults,
		"/sim/scenario":             a.adminScenario,
		"/":                         a.unknownPath,
	} {
		a.handle(pattern, h)
	}
	m.addScraped(s, d.Snapshot)
	for path, page := range map[string]*prometheus.Registry{"/metrics": m.registry, hardwarePath: newHardware(s, d.Snapshot)} {
		a.handle("GET "+path, promhttp.HandlerFor(page, promhttp.HandlerOpts{}))
	}
	return a
}

// handle answers requests with another method than the pattern's by 405.
func (a *API) handle(pattern string, h http.Handler) {
	a.mux.Handle(pattern, h)
	if method, path, one := strings.Cut(pattern, " "); one {
		a.mux.Handle(path, handler(func(w http.ResponseWriter, r *http.Request) *apiError {
			w.Header().Set("Allow", method)
			return failure(http.StatusMethodNotAllowed, "%s takes %s, not %s", r.URL.Path, method, r.Method)
		}))
	}
}

func modelID(s *core.Setup) string { return modelPrefix + s.Served.FullName }

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", serverName)
	a.mux.ServeHTTP(w, r)
}

// handler answers a request, or returns the error to answer with.
type handler func(w http.ResponseWriter, r *http.Request) *apiError

// ServeHTTP implements http.Handler.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e := h(w, r); e != nil {
		e.write(w)
	}
}

// unlessLoading answers 503 while the model loads on request.
func (a *API) unlessLoading(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) *apiError {
		if a.timetable.Faults().Loading > 0 {
			return failure(http.StatusServiceUnavailable, "the model is still loading (a simulated fault)")
		}
		return h(w, r)
	}
}

func (a *API) models(w http.ResponseWriter, _ *http.Request) *apiError {
	return writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{a.card()}})
}

func (a *API) model(w http.ResponseWriter, r *http.Request) *apiError {
	if e := a.checkModel(r.PathValue("id")); e != nil {
		return e
	}
	return writeJSON(w, http.StatusOK, a.card())
}

func (a *API) card() map[string]any {
	return map[string]any{
		"id": a.modelID, "object": "model", "created": a.created, "owned_by": serverName,
		"root": a.modelID, "parent": nil, "max_model_len": a.setup.MaxModelLen,
	}
}

func (a *API) checkModel(name string) *apiError {
	if name == a.modelID {
		return nil
	}
	e := failure(http.StatusNotFound, "The model `%s` does not exist; this engine serves `%s`.", name, a.modelID)
	e.param = "model"
	return e
}

// version also says what is simulated, and where the GPU page is.
func (a *API) version(w http.ResponseWriter, _ *http.Request) *apiError {
	return writeJSON(w, http.StatusOK, map[string]any{
		"version": serverVersion, "engine": serverName,
		"simulates": a.setup.Describe(), "gpu_metrics": hardwarePath,
	})
}

// health answers 200 with an empty body while the engine runs.
func (a *API) health(http.ResponseWriter, *http.Request) *apiError {
	if !a.driver.IsRunning() {
		return errNotRunning
	}
	return nil
}

func (a *API) unknownPath(_ http.ResponseWriter, r *http.Request) *apiError {
	return failure(http.StatusNotFound, "this engine has no %s %s", r.Method, r.URL.Path)
}
