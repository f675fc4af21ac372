// Package simtest measures the embedded engine in virtual time, for tests: the
// whole way from the pool through HTTP to the engine and back into Frames runs
// inside a testing/synctest bubble, over connections that are pipes. Minutes of
// load pass in a second, and every duration is exact and repeatable.
package simtest

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"sonde/probe"
	"sonde/probe/api"
	"sonde/probe/frame"
	"sonde/probe/prompt"
	"sonde/probe/sim"
)

// Rig is a Session on an engine of its own.
type Rig struct {
	Session *probe.Session
	Engine  *sim.Server

	last uint64 // Frames up to this one have been handed out
}

// Start runs an engine and a Session that is connected to it, with its prompt
// length fitted; the load of o begins at once. What o does not set has a default
// that suits tests. Everything ends with the test. It has to be called inside a
// bubble (synctest.Test).
func Start(t testing.TB, engine sim.Options, o probe.Options) *Rig {
	t.Helper()
	return StartBehind(t, engine, o, func(engine http.Handler) http.Handler { return engine })
}

// StartBehind is Start with a front between the Session and the engine: it gets the
// engine's handler and answers in its place.
func StartBehind(t testing.TB, engine sim.Options, o probe.Options, front func(http.Handler) http.Handler) *Rig {
	t.Helper()
	engine.VirtualTime = true
	server, err := sim.New(engine)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	network := NewNetwork()
	serve(t, ctx, server, front, network)
	session, err := probe.New(complete(o, network))
	if err != nil {
		t.Fatal(err)
	}
	session.Start(ctx)
	t.Cleanup(func() {
		session.Close()
		cancel()
		_ = network.Close()
	})
	if err := session.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	session.Calibrate(ctx, false)
	session.Begin()
	return &Rig{Session: session, Engine: server}
}

// serve answers HTTP on the network until the test ends.
func serve(t testing.TB, ctx context.Context, engine *sim.Server, front func(http.Handler) http.Handler, n *Network) {
	engine.Start(ctx)
	server := &http.Server{Handler: front(engine.Handler()), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(n)
	}()
	t.Cleanup(func() { // after the Session's: clean-ups run last in, first out
		_ = server.Close()
		<-done
	})
}

// complete fills in what every Session needs.
func complete(o probe.Options, n *Network) probe.Options {
	o.URL, o.Embedded, o.Dial = "http://"+n.Addr().String(), true, n.Dial
	o.API = cmp.Or(o.API, string(api.Chat))
	o.GPU = cmp.Or(o.GPU, "auto")
	o.Idle = cmp.Or(o.Idle, time.Minute)
	o.MaxConcurrency = cmp.Or(o.MaxConcurrency, 1024)
	o.Load.InputTokens = cmp.Or(o.Load.InputTokens, 256)
	o.Load.OutputTokens = cmp.Or(o.Load.OutputTokens, 128)
	if o.Process == nil {
		o.Process = unknownProcess{}
	}
	if o.Prompts == nil {
		o.Prompts = prompt.NewSynthetic(prompt.Unique, o.Seed)
	}
	return o
}

// unknownProcess knows nothing of the process: the CPU time and the pauses of the test
// itself are in real time, which has no meaning in virtual time.
type unknownProcess struct{}

func (unknownProcess) CPU() (time.Duration, bool)  { return 0, false }
func (unknownProcess) LongestPause() time.Duration { return 0 }

// Play lets d pass and hands every Frame of that time to the readers, in order.
func (r *Rig) Play(d time.Duration, readers ...func(*frame.Frame)) {
	seq := r.last
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(probe.DefaultTick)
		for _, f := range r.Session.Since(seq) {
			seq = f.Seq
			for _, read := range readers {
				read(f)
			}
		}
	}
	r.last = seq
}

// UnderRace reports whether the race detector watches: everything takes some twenty
// times as long. Tests that play many scenarios over the same code play a few of them then.
var UnderRace = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// Network is a listener whose connections are pipes within the process, so that
// virtual time passes while both ends wait.
type Network struct {
	arrivals chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

// NewNetwork makes one without connections.
func NewNetwork() *Network {
	return &Network{arrivals: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial opens a connection, whatever the address is.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case n.arrivals <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Accept hands a dialled connection to the server.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.arrivals:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and refuses new connections.
func (n *Network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr is the address that the Session connects to.
func (n *Network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000} }
