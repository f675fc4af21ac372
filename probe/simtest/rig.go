// Package simtest measures the embedded engine in virtual time, for tests: the
// whole way from the pool through HTTP to the engine and back into Frames runs
// inside a testing/synctest bubble, over connections that are pipes. Minutes of
// load pass in a second, and every duration is exact and repeatable.
package simtest

import (
	"context"
	"net/http"
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
// length fitted; the load of ask begins at once. What ask leaves out has a default
// that suits tests. Everything ends with the test. It has to be called inside a
// bubble (synctest.Test).
func Start(t testing.TB, engine sim.Options, ask probe.Options) *Rig {
	t.Helper()
	return StartBehind(t, engine, ask, func(engine http.Handler) http.Handler { return engine })
}

// StartBehind is Start with something between the Session and the engine: front
// is given the engine's handler and answers in its place.
func StartBehind(t testing.TB, engine sim.Options, ask probe.Options, front func(http.Handler) http.Handler) *Rig {
	t.Helper()
	engine.VirtualTime = true
	server, err := sim.New(engine)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	network := newNetwork()
	serve(t, ctx, server, front, network)
	session, err := probe.New(complete(ask, network))
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
func serve(t testing.TB, ctx context.Context, engine *sim.Server, front func(http.Handler) http.Handler, n *network) {
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
func complete(ask probe.Options, n *network) probe.Options {
	ask.URL, ask.Embedded, ask.Dial = "http://"+n.Addr().String(), true, n.dial
	if ask.API == "" {
		ask.API = string(api.Chat)
	}
	if ask.GPU == "" {
		ask.GPU = "auto"
	}
	if ask.Idle == 0 {
		ask.Idle = time.Minute
	}
	if ask.Process == nil {
		ask.Process = calm{}
	}
	if ask.MaxConcurrency == 0 {
		ask.MaxConcurrency = 1024
	}
	if ask.Load.InputTokens == 0 {
		ask.Load.InputTokens = 256
	}
	if ask.Load.OutputTokens == 0 {
		ask.Load.OutputTokens = 128
	}
	if ask.Prompts == nil {
		ask.Prompts = prompt.NewSynthetic(prompt.Unique, ask.Seed)
	}
	return ask
}

// calm is a process about which nothing is known: the use of cores and the pauses
// of the test itself are of real time, and mean nothing in virtual time.
type calm struct{}

func (calm) CPU() (time.Duration, bool)  { return 0, false }
func (calm) LongestPause() time.Duration { return 0 }

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
