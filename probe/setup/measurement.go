package setup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"sonde/config"
	"sonde/probe"
	"sonde/probe/bench"
	"sonde/probe/export"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/plain"
	"sonde/probe/record"
	"sonde/probe/sim"
)

// Measurement is a Session with what belongs to it.
type Measurement struct {
	Session *probe.Session
	Plan    bench.Plan  // what is to be run and summed up
	Engine  *sim.Server // the embedded engine; nil with a URL

	seedSet bool
	readers []chan struct{} // closed when a reader has seen the last Frame
	closed  bool
	record  *record.Writer
	workers int // how many of them the load waits for
}

// Open prepares a Session and starts it: Frames come from now on, and nothing is
// sent before Connect. Without a URL it also starts the embedded engine, which
// ends with ctx. version is the program's, for recordings.
func Open(ctx context.Context, c config.Config, version string) (*Measurement, error) {
	opt, err := Options(c)
	if err != nil {
		return nil, err
	}
	var engine *sim.Server
	if c.URL == "" {
		if engine, err = Engine(c); err != nil {
			return nil, err
		}
		if opt.URL, _, err = engine.Listen(ctx, "127.0.0.1:0"); err != nil {
			return nil, err
		}
		opt.Embedded = true
	}
	m := &Measurement{Engine: engine, Plan: plan(c, opt), seedSet: c.SeedSet, workers: c.Workers.Min}
	if err := crewOf(ctx, c, &opt); err != nil {
		return nil, err
	}
	session, err := probe.New(opt)
	if err != nil {
		return nil, Usage(err)
	}
	m.Session = session
	if c.Record != "" {
		file, err := os.OpenFile(c.Record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, Usage(fmt.Errorf("--record: %w", err))
		}
		m.record = record.NewWriter(file, record.Header{Started: time.Now(), Version: version, URL: session.URL(), Seed: opt.Seed, Plan: settingsOf(m.Plan.SLOs)})
		m.Follow(m.recordFrame)
	}
	if c.Listen != "" {
		if err := m.publish(ctx, c, version); err != nil {
			return nil, err
		}
	}
	session.Start(ctx)
	return m, nil
}

// publish serves what is measured to Prometheus until ctx ends.
func (m *Measurement) publish(ctx context.Context, c config.Config, version string) error {
	metrics := export.New(version)
	m.Follow(metrics.NewSession(endpointLabel(c), m.Plan.SLOs).Add)
	url, err := export.Serve(ctx, c.Listen, func(err error) { m.Session.Note(err.Error()) }, metrics.Page())
	if err == nil {
		m.Session.Note("metrics for Prometheus: " + url + "/metrics")
	}
	return err
}

// endpointLabel names the endpoint in metrics, as it was given but without credentials.
func endpointLabel(c config.Config) string {
	return cmp.Or(plain.RedactURL(c.URL), "embedded")
}

// recordFrame records, and tells at once when the recording ends before its time,
// on a full disk for one. The measurement goes on.
func (m *Measurement) recordFrame(f *frame.Frame) {
	m.record.Add(f)
	select {
	case err := <-m.record.Failed():
		m.Session.Note(err.Error())
	default:
	}
}

// Follow hands every Frame to add, in a goroutine of its own.
func (m *Measurement) Follow(add func(*frame.Frame)) {
	done := make(chan struct{})
	m.readers = append(m.readers, done)
	guard.Go("reader of frames", m.Session.Fail, func() {
		defer close(done)
		m.Session.Follow(add)
	})
}

// Connect finds the server and fits the prompt length, then begins; its result
// comes on the channel, and to the readers of Frames as the session's end if it
// is an error.
func (m *Measurement) Connect(ctx context.Context, begin func()) <-chan error {
	result := make(chan error, 1)
	fail := func(err error) {
		m.Session.Fail(err)
		result <- err
	}
	guard.Go("connect", fail, func() {
		if err := m.Session.Connect(ctx); err != nil {
			fail(err)
			return
		}
		if err := m.Session.AwaitWorkers(ctx, m.workers); err != nil {
			fail(err)
			return
		}
		m.Session.Calibrate(ctx, m.seedSet)
		begin()
		result <- nil
	})
	return result
}

// Close ends the load and the Session, waits for the readers, and says what became
// of the recording if that is not whole.
func (m *Measurement) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	m.Session.Close()
	for _, done := range m.readers {
		<-done
	}
	if m.record == nil {
		return nil
	}
	if err := m.record.Close(); err != nil {
		return fmt.Errorf("the recording is incomplete: %w", err)
	}
	return nil
}

// Rehearsal is what can be switched on the embedded engine, nil with a URL.
func (m *Measurement) Rehearsal() frame.Rehearsal {
	if m.Engine == nil {
		return nil
	}
	return m.Engine
}
