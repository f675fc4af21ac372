package truth

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"sonde/probe/guard"
)

// Command is the hidden command that runs the program as a scripted server.
const Command = "testserver"

// Serve is that command: orders come on standard input, answers go to standard output.
func Serve() error { return serve(os.Stdin, os.Stdout) }

// Remote is a scripted server and the line to it.
type Remote struct {
	OwnProcess bool   // it has a process of its own, else it shares this one
	Why        string // why it has none
	Addr       string // plain HTTP
	TLSAddr    string
	Roots      *x509.CertPool // what a client over TLS has to trust

	orders  *json.Encoder
	replies *json.Decoder
	end     func()
}

// Start starts a server in a process of its own, so that neither side takes the
// other's processor time or garbage collections; where that is impossible in
// this process. It ends with ctx or Close.
func Start(ctx context.Context) (*Remote, error) {
	r, err := startProcess(ctx)
	if err == nil {
		return r, nil
	}
	why := err.Error()
	if r, err = startHere(); err != nil {
		return nil, err
	}
	r.Why = why
	return r, nil
}

func startProcess(ctx context.Context) (*Remote, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, Command)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := func() {
		_ = in.Close() // no more orders: it ends by itself
		_ = cmd.Wait()
	}
	return greet(&Remote{OwnProcess: true, orders: json.NewEncoder(in), replies: json.NewDecoder(out), end: end})
}

func startHere() (*Remote, error) {
	orders, in := io.Pipe()
	out, replies := io.Pipe()
	guard.Go("scripted server", func(err error) { _ = replies.CloseWithError(err) }, func() {
		_ = replies.CloseWithError(serve(orders, replies))
	})
	return greet(&Remote{orders: json.NewEncoder(in), replies: json.NewDecoder(out), end: func() { _ = in.Close() }})
}

// greet reads where the server listens.
func greet(r *Remote) (*Remote, error) {
	var h hello
	err := r.replies.Decode(&h)
	if err == nil && h.Error != "" {
		err = errors.New(h.Error)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("the scripted server did not start: %w", err)
	}
	r.Addr, r.TLSAddr, r.Roots = h.Addr, h.TLSAddr, x509.NewCertPool()
	r.Roots.AppendCertsFromPEM([]byte(h.Certificate))
	return r, nil
}

// Begin starts a round.
func (r *Remote) Begin(round Round) error {
	_, err := r.do(order{Round: &round})
	return err
}

// Report returns what happened in the round.
func (r *Remote) Report() (Report, error) { return r.do(order{}) }

func (r *Remote) do(o order) (Report, error) {
	var reply Report
	err := r.orders.Encode(o)
	if err == nil {
		err = r.replies.Decode(&reply)
	}
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	if err != nil {
		return Report{}, fmt.Errorf("the scripted server is lost: %w", err)
	}
	return reply, nil
}

// Close ends the server.
func (r *Remote) Close() { r.end() }
