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
)

// Listen starts the engine and serves it at addr ("127.0.0.1:0" for any free
// port) until ctx ends; then all connections are cut. The base URL has no path.
// done receives the reason of the end once, nil if it was ctx.
func (s *Server) Listen(ctx context.Context, addr string) (baseURL string, done <-chan error, err error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("simulated engine: cannot listen at %s: %w (--listen chooses another address)", addr, reason(err))
	}
	// Several engines on one machine have GPUs of their own.
	s.setup.instance = ln.Addr().(*net.TCPAddr).Port
	ctx, cancel := context.WithCancel(ctx)
	s.Start(ctx)
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // standard error belongs to the screen
	}
	ends := make(chan error, 2) // the server's end and the engine's
	guard.Go("embedded engine: HTTP", func(err error) { ends <- err }, func() { ends <- server.Serve(ln) })
	result := make(chan error, 1)
	guard.Go("embedded engine: end", func(err error) { result <- err }, func() {
		defer cancel()
		result <- s.waitForEnd(ctx, server, ends)
	})
	return "http://" + ln.Addr().String(), result, nil
}

// waitForEnd stops the HTTP server when ctx ends or the engine fails.
func (s *Server) waitForEnd(ctx context.Context, server *http.Server, ends <-chan error) error {
	var err error
	select {
	case err = <-ends:
	case <-s.driver.ended:
		err = s.driver.failure()
	case <-ctx.Done():
	}
	_ = server.Close() // cuts connections; there is nothing to save
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// reason is what the system says, without the address that stands before it.
func reason(err error) error {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}
