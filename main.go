// Command sonde is an oscilloscope for LLM inference in a terminal.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"sonde/config"
	"sonde/gpu"
	"sonde/probe"
	"sonde/probe/api"
	"sonde/probe/diagnose"
	"sonde/probe/doctor"
	"sonde/probe/doctor/truth"
	"sonde/probe/guard"
	"sonde/probe/headless"
	"sonde/probe/prompt"
	"sonde/probe/record"
	"sonde/probe/sim"
	"sonde/ui"
)

// Set by the linker for releases.
var version, commit, date string

func main() {
	// Garbage is collected seldom: a collection is time in which arrivals wait.
	debug.SetGCPercent(400)
	if truth.Asked(os.Args[1:]) {
		os.Exit(truth.Main())
	}
	build := config.BuildInfo{Version: version, Commit: commit, Date: date, NVML: gpu.BuiltWithNVML}
	actions := config.Actions{Live: live, Bench: bench, Sim: serve, Doctor: examine}
	os.Exit(config.Execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr, build, actions))
}

// quickAnswer is how long the screen waits for the server's first answer, so
// that a wrong address is one line and not a screen that flashes.
const quickAnswer = 150 * time.Millisecond

// live shows the screen.
func live(ctx context.Context, c config.Config) error {
	if err := ui.CheckTerminal(os.Stdin, os.Stdout); err != nil {
		return &config.ExitError{Code: 2, Err: err}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m, err := open(ctx, c)
	if err != nil {
		return err
	}
	defer m.close()
	keeper := headless.NewKeeper(m.plan(c))
	m.follow(keeper.Add)
	connected := m.connect(ctx, func() {
		m.session.Calibrate(ctx, c.SeedSet)
		m.session.Begin()
	})
	select {
	case err := <-connected:
		if err != nil {
			return err
		}
	case <-time.After(quickAnswer):
	}
	err = ui.Run(ctx, ui.Options{
		Frames: m.session, Controls: m.session, Judge: diagnose.New(), SLOs: sloLines(c),
		Save:  func(svg string) (string, error) { return keeper.Save(".", time.Now(), svg) },
		ASCII: c.ASCII, Color: c.Color,
	})
	m.close()
	if briefErr := keeper.WriteBrief(os.Stdout); err == nil {
		return briefErr
	}
	return exit(err)
}

// bench runs one load without a screen.
func bench(ctx context.Context, c config.Config) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	// The session outlives the interrupt: what is in flight is still recorded.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	m, err := open(running, c)
	if err != nil {
		return err
	}
	defer m.close()
	select {
	case err = <-m.connect(running, func() {}):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return exit(err)
	}
	m.session.Calibrate(ctx, c.SeedSet)
	progress := headless.NewProgressLine(os.Stderr)
	summary, err := headless.Run(ctx, m.session, m.plan(c), progress.Show)
	progress.Clear()
	m.close()
	if writeErr := headless.Write(summary, c.Out, c.Format, os.Stdout); writeErr != nil {
		return writeErr
	}
	switch cause := context.Cause(ctx); {
	case err != nil:
		return err
	case cause != nil:
		return exit(cause)
	case summary.ExitCode() != 0:
		return &config.ExitError{Code: summary.ExitCode()}
	}
	return nil
}

// serve runs the embedded engine for other tools.
func serve(ctx context.Context, c config.Config) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	url, done, err := sim.Listen(ctx, c.Sim.Listen, simOptions(c))
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "embedded engine at %s (ctrl+c ends it)\n", url)
	if err := <-done; err != nil && ctx.Err() == nil {
		return err
	}
	return exit(context.Cause(ctx))
}

// examine says what can be seen from here, or how right the measurement is.
func examine(ctx context.Context, c config.Config) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	out := doctor.Output{Path: c.Out, Format: c.Format, Stdout: os.Stdout}
	if c.Calibrate {
		return exit(doctor.CalibrateTo(ctx, out, doctor.Progress(os.Stderr)))
	}
	o, err := sessionOptions(c)
	if err != nil {
		return err
	}
	ready, err := doctor.ExamineTo(ctx, out, doctor.Options{Options: o, Insecure: c.Insecure, Watch: c.Watch})
	if err == nil && !ready {
		return &config.ExitError{Code: 1}
	}
	return exit(err)
}

// measurement is a session with what belongs to it.
type measurement struct {
	session  *probe.Session
	seed     uint64
	roofline *gpu.Roofline   // as asked for; nil: found by itself
	readers  []chan struct{} // closed when a reader has seen the last Frame
	closed   bool
	record   *record.Writer
}

// open prepares a session, and the embedded engine if no address was given.
func open(ctx context.Context, c config.Config) (*measurement, error) {
	opt, err := sessionOptions(c)
	if err != nil {
		return nil, err
	}
	if c.URL == "" {
		if opt.URL, _, err = sim.Listen(ctx, "127.0.0.1:0", simOptions(c)); err != nil {
			return nil, err
		}
		opt.Embedded = true
	}
	session, err := probe.New(opt)
	if err != nil {
		return nil, err
	}
	m := &measurement{session: session, seed: opt.Seed, roofline: opt.Roofline}
	if c.Record != "" {
		file, err := os.OpenFile(c.Record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, fmt.Errorf("--record: %w", err)
		}
		m.record = record.NewWriter(file, record.Header{Started: time.Now(), Version: version, URL: session.URL(), Seed: opt.Seed})
		m.follow(m.record.Add)
	}
	session.Start(ctx)
	return m, nil
}

// follow hands every Frame to add, in a goroutine of its own.
func (m *measurement) follow(add func(*probe.Frame)) {
	done := make(chan struct{})
	m.readers = append(m.readers, done)
	guard.Go("reader of frames", func(error) {}, func() {
		defer close(done)
		m.session.Follow(add)
	})
}

// connect finds the server and then begins; its result comes on the channel, and
// to the screen as the session's end if it is an error.
func (m *measurement) connect(ctx context.Context, begin func()) <-chan error {
	result := make(chan error, 1)
	guard.Go("connect", m.session.Fail, func() {
		err := m.session.Connect(ctx)
		if err != nil {
			m.session.Fail(err)
		} else {
			begin()
		}
		result <- err
	})
	return result
}

// close ends the load and the session, and waits for the readers.
func (m *measurement) close() {
	if m.closed {
		return
	}
	m.closed = true
	m.session.Close()
	for _, done := range m.readers {
		<-done
	}
	if m.record != nil {
		if err := m.record.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "sonde: the recording is incomplete:", err)
		}
	}
}

// signalError is a signal that ended the work.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return e.String() }

// interruptible ends the context at the first signal, with the signal as its
// cause, and the process at the second.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	guard.Go("signals", func(error) {}, func() {
		first := <-signals
		cancel(signalError{first})
		<-signals
		os.Exit(exitCode(first))
	})
	return ctx, func() { signal.Stop(signals) }
}

func exitCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 130
}

// exit turns what ended a command into its exit code: 130 for an interrupt, 143
// for a termination.
func exit(err error) error {
	var ours signalError
	var screen *ui.SignalError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours):
		return &config.ExitError{Code: exitCode(ours.Signal)}
	case errors.As(err, &screen):
		return &config.ExitError{Code: screen.ExitCode()}
	case errors.Is(err, ui.ErrInterrupted), errors.Is(err, context.Canceled):
		return &config.ExitError{Code: 130}
	}
	return &config.ExitError{Code: 1, Err: err}
}

// sessionOptions translates what was asked into what a Session measures.
func sessionOptions(c config.Config) (probe.Options, error) {
	tls, err := api.TLSConfig(c.CA, c.Insecure)
	if err != nil {
		return probe.Options{}, err
	}
	seed := c.Seed
	if !c.SeedSet {
		seed = uint64(rand.Uint32()) // small enough for every reader of JSON
	}
	prompts, err := prompt.Open(c.Prompts, prompt.Prefix(c.Prefix), seed)
	if err != nil {
		return probe.Options{}, err
	}
	roofline, err := rooflineOf(c)
	if err != nil {
		return probe.Options{}, err
	}
	header := make(http.Header)
	for _, h := range c.Headers {
		header.Add(h.Name, h.Value)
	}
	return probe.Options{
		URL: c.URL, API: c.API, Model: c.Model, APIKey: c.APIKey, Header: header, TLS: tls, Idle: c.IdleTimeout,
		Metrics: c.Metrics, GPU: c.GPU, Prometheus: c.Prometheus, Selector: c.Selector,
		Roofline: roofline, Prompts: prompts, Prefix: c.Prefix, Seed: seed,
		Load: wanted(c), MaxConcurrency: c.MaxConcurrency, MaxTokensTotal: c.MaxTokensTotal,
	}, nil
}

// rooflineOf reads --roofline; nil is to be found by itself.
func rooflineOf(c config.Config) (*gpu.Roofline, error) {
	if c.Roofline == "" {
		return nil, nil
	}
	r, err := gpu.ParseRoofline(c.Roofline)
	if err != nil {
		return nil, &config.ExitError{Code: 2, Err: fmt.Errorf("--roofline: %w", err)}
	}
	return &r, nil
}

func wanted(c config.Config) probe.Load {
	return probe.Load{
		Concurrency: c.Concurrency, Rate: c.Rate, Poisson: c.Arrivals == "poisson",
		InputTokens: c.Input, OutputTokens: c.Output,
	}
}

// plan is what headless is to run and to sum up.
func (m *measurement) plan(c config.Config) headless.Plan {
	p := headless.Plan{
		Load: wanted(c), Prefix: c.Prefix, Seed: m.seed, Roofline: m.roofline,
		Requests: c.Requests, Duration: c.Duration,
		WarmupRequests: c.Warmup.Requests, WarmupFor: c.Warmup.Duration, DrainFor: c.IdleTimeout,
	}
	for _, s := range c.SLO {
		p.SLOs = append(p.SLOs, headless.SLO{
			Metric: s.Metric, Quantile: s.Quantile, LimitMS: float64(s.Limit) / float64(time.Millisecond),
			SuccessShare: s.Share, Text: s.Text,
		})
	}
	return p
}

func sloLines(c config.Config) []ui.SLOLine {
	var lines []ui.SLOLine
	for _, s := range c.SLO {
		if name, _, ok := strings.Cut(s.Text, "="); ok && s.Limit > 0 {
			lines = append(lines, ui.SLOLine{Metric: name, LimitMS: float64(s.Limit) / float64(time.Millisecond)})
		}
	}
	return lines
}

func simOptions(c config.Config) sim.Options {
	return sim.Options{
		Model: c.Sim.Model, GPU: c.Sim.GPU, MaxSeqs: c.Sim.MaxSeqs, TokenBudget: c.Sim.TokenBudget,
		KVGB: c.Sim.KVGB, Speed: c.Sim.Speed, Seed: c.Seed,
	}
}
