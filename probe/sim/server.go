package sim

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sonde/probe/guard"
	"sonde/probe/sim/faults"
)

// How the engine names itself.
const (
	serverName    = "sonde-sim"
	serverVersion = "0.1.0"
	modelPrefix   = "sim/"          // of the model's id: this is a simulation of it
	hardwarePath  = "/dcgm/metrics" // GPU page, in the form of a DCGM exporter
)

// Server is one embedded engine behind HTTP.
type Server struct {
	setup             setup
	modelID           string
	created           int64 // Unix seconds
	driver            *driver
	*faults.Timetable        // what goes wrong, and when
	pieces            pieces // tokens that can be turned back into text
	handler           http.Handler
	requests          atomic.Uint64 // numbers the ids of answers
}

// New builds an engine. Its errors name the option that cannot work, and what
// could. The engine answers 503 until Start.
func New(o Options) (*Server, error) {
	set, err := o.resolve()
	if err != nil {
		return nil, err
	}
	s := &Server{setup: set, modelID: modelPrefix + set.shape.fullName(), created: time.Now().Unix()}
	engine := newMetrics(&s.setup, s.modelID)
	s.driver = newDriver(newCore(set), engine)
	s.Timetable = faults.NewTimetable(s.driver, set.Faults)
	s.handler = s.routes(engine.serve(&s.setup, s.driver.snapshot), newHardware(&s.setup, s.driver.snapshot))
	return s, nil
}

// Start runs the engine until ctx ends; then streams in flight end with an
// error, and new requests get 503.
func (s *Server) Start(ctx context.Context) {
	s.driver.start(ctx)
	guard.Go("embedded engine: timetable", s.driver.stop, func() { s.Run(ctx) })
	if s.setup.Scenario != "" {
		_ = s.Play(s.setup.Scenario) // the name was checked by New
	}
}

// Handler is the engine's HTTP interface.
func (s *Server) Handler() http.Handler { return s.handler }

// Describe says in one line what is being simulated.
func (s *Server) Describe() string {
	return fmt.Sprintf("%s on %s, KV cache %d tokens, context %d tokens",
		s.setup.shape.fullName(), s.setup.devices(), s.setup.kvTokens(), s.setup.MaxModelLen)
}

func (s *Server) routes(engine, hardware *prometheus.Registry) http.Handler {
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
func (s *Server) unlessLoading(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.Faults().Loading {
			errLoading.write(w)
			return
		}
		h(w, r)
	}
}

// Scenarios lists the incidents that the engine can play.
func Scenarios() []faults.Scenario { return faults.Scenarios }

// DescribeScenarios has a line for each scenario.
func DescribeScenarios() string { return faults.DescribeScenarios() }

// Faults are what goes wrong on request.
type Faults = faults.Faults

// ParseFaults reads a list such as "429=0.1/2s,cut=0.02".
func ParseFaults(list string) (Faults, error) { return faults.Parse(list) }
