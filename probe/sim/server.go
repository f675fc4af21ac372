// Package sim is the embedded engine: a simulated GPU inference engine in real time
// behind a real HTTP server. It speaks the OpenAI API, vLLM's metric names and a DCGM
// exporter page, and it identifies itself as "sonde-sim" wherever a server does.
//
// Its rooms: core is the engine without HTTP, faults is what goes wrong and when, serve
// is the protocol. This package puts them together.
package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"sonde/probe/guard"
	"sonde/probe/sim/core"
	"sonde/probe/sim/faults"
	"sonde/probe/sim/serve"
)

type (
	Options = core.Options  // of New
	Faults  = faults.Faults // what goes wrong
)

// Server is one embedded engine behind HTTP.
type Server struct {
	*faults.Timetable // what goes wrong, and when
	setup             core.Setup
	driver            *core.Driver
	api               *serve.API
}

// New builds an engine. Its errors name the option that cannot work, and one that
// could. The engine answers 503 until Start.
func New(o Options) (*Server, error) {
	set, err := o.Resolve()
	if err != nil {
		return nil, err
	}
	s := &Server{setup: set}
	metrics := serve.NewMetrics(&s.setup)
	s.driver = core.NewDriver(set, metrics)
	s.Timetable = faults.NewTimetable(s.driver, set.Faults)
	s.api = serve.New(&s.setup, s.driver, s.Timetable, metrics)
	return s, nil
}

// Start runs the engine until ctx ends; then streams in flight end with an
// error, and new requests get 503.
func (s *Server) Start(ctx context.Context) {
	s.driver.Start(ctx)
	guard.Go("embedded engine: timetable", s.driver.Stop, func() { s.Run(ctx) })
	if s.setup.Scenario != "" {
		_ = s.Play(s.setup.Scenario) // the name was checked by New
	}
}

// Handler is the engine's HTTP interface.
func (s *Server) Handler() http.Handler { return s.api }

// Describe says in one line what is being simulated.
func (s *Server) Describe() string { return s.setup.Describe() }

// DescribeScenarios has a line for each scenario.
func DescribeScenarios() string { return faults.DescribeScenarios() }

// ParseFaults reads a list such as "429=0.1/2s,cut=0.02".
func ParseFaults(list string) (Faults, error) { return faults.Parse(list) }

// Listen starts the engine and serves it at addr ("127.0.0.1:0" for any free
// port) until ctx ends; then all connections are cut. The base URL has no path.
// done receives why it ended, nil if because of ctx.
func (s *Server) Listen(ctx context.Context, addr string) (baseURL string, done <-chan error, err error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("simulated engine: cannot listen at %s: %w (--listen chooses another address)", addr, reason(err))
	}
	// Several engines on one machine have GPUs of their own.
	s.setup.Instance = ln.Addr().(*net.TCPAddr).Port
	ctx, cancel := context.WithCancel(ctx)
	s.Start(ctx)
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // standard error belongs to the screen
	}
	ended := make(chan error, 2)
	fail := func(err error) { ended <- err }
	guard.Go("embedded engine: end", fail, func() {
		<-s.driver.Ended
		_ = server.Close() // cuts connections; there is nothing to save
	})
	guard.Go("embedded engine: HTTP", fail, func() {
		defer cancel()
		err := server.Serve(ln)
		if errors.Is(err, http.ErrServerClosed) {
			err = s.driver.Failure()
		}
		ended <- err
	})
	return "http://" + ln.Addr().String(), ended, nil
}

// reason is the error of the system call, without the address in front.
func reason(err error) error {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}
