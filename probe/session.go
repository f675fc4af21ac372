// Package probe joins the three sources of a measurement: what the client saw,
// what the engine reports, what the hardware reports. A Session owns the clock and
// closes a Frame on every tick; everything that shows, judges, stores or exports
// reads Frames, and the operator's commands come back through frame.Controls.
package probe

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"sonde/probe/api"
	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/load"
	"sonde/probe/prompt"
)

// Session measures one endpoint. It is a frame.Frames and a frame.Controls.
type Session struct {
	*commands
	feed

	opt   Options
	addr  api.Address
	epoch time.Time

	model modelShape
	stage atomic.Int32 // a frame.Stage; written by the goroutine that connects

	// The ticking goroutine's own.
	collector *collect.Collector
	parts     []part
	lastTick  time.Duration // end of the newest Frame's slice
	looked    time.Duration // when that was to be
	missed    bool          // our process did not run for a while, and no Frame says so yet

	tick   <-chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

// part follows something from slice to slice, and adds what it finds to the Frame
// that closes. It belongs to the ticking goroutine and never waits.
type part interface {
	add(f *frame.Frame, t *collect.Tick)
}

// New makes a Session and checks its address. Nothing is sent before Connect.
func New(opt Options) (*Session, error) {
	if opt.Tick == 0 {
		opt.Tick = DefaultTick
	}
	if opt.Remote == nil {
		if err := checkFiles(opt.Load.Concurrency, opt.Embedded); err != nil {
			return nil, err
		}
	}
	opt.Load = opt.clamp(opt.Load)
	addr, err := api.ParseAddress(opt.URL, api.Kind(opt.API))
	if err != nil {
		return nil, err
	}
	if file, ok := opt.Prompts.(*prompt.File); ok && addr.Kind == api.Completions && file.HasMessages() {
		return nil, errors.New("the prompt file contains lists of messages, which only the chat endpoint accepts: drop --api completions, or use plain texts")
	}
	if opt.Load.Turns > 1 && addr.Kind == api.Completions {
		return nil, errors.New("--turns needs the chat API, whose requests have messages: drop --turns, or use an address that ends in /chat/completions")
	}
	s := &Session{opt: opt, addr: addr, epoch: time.Now(), done: make(chan struct{})}
	s.enter(frame.StageConnecting)
	s.tick = s.subscribe()
	s.collector = collect.NewCollector(func() (int, time.Duration) { return s.pool.Retrying() })
	long := &longWatch{tick: opt.Tick}
	s.commands = newCommands(opt, s.now, s.collector, long)
	health, err := s.openGenerators()
	if err != nil {
		return nil, err
	}
	s.parts = []part{
		long, &tokenCap{limit: opt.MaxTokensTotal, commands: s.commands}, &tooLong{commands: s.commands}, &refusals{commands: s.commands}, &cutPrompts{commands: s.commands}, &scheduleWatch{commands: s.commands},
		health, partFunc(s.readSources), &bounds{requested: opt.Roofline},
	}
	return s, nil
}

// openGenerators makes what sends the load, and the part that follows how well it does.
func (s *Session) openGenerators() (health part, err error) {
	if s.opt.Remote == nil {
		s.pool = load.New(load.Options{
			Doer: connected{s.commands}, Prompts: s.opt.Prompts, NewTrack: s.collector.NewTrack,
			Epoch: s.epoch, Seed: s.opt.Seed, Fail: s.Fail, Exact: s.opt.Dial == nil, Trace: s.opt.Trace, Room: s.promptRoom,
		})
		return newHealth(s.opt, s.stamps), nil
	}
	remote, err := s.opt.Remote(RemoteSetup{Now: s.now, Note: s.Note, Fail: s.Fail})
	if err != nil {
		return nil, err
	}
	s.pool = remote
	s.collector.SetRemote(remote)
	return workers{remote}, nil
}

// partFunc is a part without a memory.
type partFunc func(f *frame.Frame)

func (p partFunc) add(f *frame.Frame, _ *collect.Tick) { p(f) }

// Start begins to close Frames, before any server has answered.
func (s *Session) Start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	guard.Go("session", s.lastWords, func() {
		defer close(s.done)
		defer s.endAnnouncements()
		defer guard.Catch("session", s.lastWords) // before the followers are sent home
		s.run(ctx)
	})
}

// Close stops the load, waits until no request is left on the server, closes a
// last Frame and ends the Session.
func (s *Session) Close() {
	s.pool.Close()
	s.cancel()
	<-s.done
	if c := s.conn.Load(); c != nil {
		c.client.Close()
	}
}

// Epoch is the instant from which the times of Frames count.
func (s *Session) Epoch() time.Time { return s.epoch }

// URL is the address that requests go to first, without credentials.
func (s *Session) URL() string { return api.Redacted(s.addr.Requests[0]) }

// Tick receives after every Frame, and is closed when the Session ends.
func (s *Session) Tick() <-chan struct{} { return s.tick }

func (s *Session) run(ctx context.Context) {
	ticker := time.NewTicker(s.opt.Tick)
	defer ticker.Stop()
	s.closeFrame(false)
	for {
		select {
		case <-ctx.Done():
			s.closeFrame(true)
			return
		case <-ticker.C:
			s.closeFrame(false)
		}
	}
}

// stoppedAfter is how late a tick has to be before we conclude that our process did
// not run (SIGSTOP, a suspended machine): beyond any scheduler that is merely busy.
const stoppedAfter = 500 * time.Millisecond

// closeFrame ends the slice and publishes what is known. What others send is known a little later: the slice then
// ends when their reports do, and there is no Frame where these are late. The last Frame has all that there is.
func (s *Session) closeFrame(last bool) {
	now := s.now()
	stopped := s.missed || now-s.looked > s.opt.Tick+stoppedAfter
	s.looked, s.missed = now, stopped
	known := s.pool.Until(now)
	upTo := known
	switch {
	case last:
		upTo = math.MaxInt64
	case known < now && known <= s.lastTick:
		return
	default:
		now = known
	}
	s.missed = false
	slice := now - s.lastTick
	s.lastTick = now
	load, events, fatal := s.carryOut(upTo, now)
	t := s.collector.Tick(now, stopped)
	if stopped {
		events = append(events, note(now, "this process was stopped for a while: requests of that time are excluded"))
	}
	f := &frame.Frame{
		At: now, Slice: slice, Stopped: stopped, Target: s.target(),
		Load:   frame.LoadState{Requested: load, Level: t.Level, Settled: t.Settled, Max: s.opt.MaxConcurrency, Watch: s.opt.Watch, Stage: s.stageNow()},
		Client: t.Client, Streams: t.Cells, Requests: t.Requests, Events: events, Err: fatal,
	}
	for _, p := range s.parts {
		p.add(f, &t)
	}
	s.publish(f)
}

// note is an event that is worth a line.
func note(at time.Duration, text string) frame.Event {
	return frame.Event{At: at, Kind: frame.EventNote, Text: text}
}

func (s *Session) now() time.Duration { return time.Since(s.epoch) }

// lastWords publishes the error that ended the ticking itself.
func (s *Session) lastWords(err error) {
	s.Fail(err)
	s.publish(&frame.Frame{At: s.now(), Err: err})
}

// enter sets the stage. Its callers follow each other: Connect, Calibrate, and
// whoever calls them.
func (s *Session) enter(to frame.Stage) { s.stage.Store(int32(to)) }

// stageNow is the stage that readers of Frames see: an operator who has requested
// no load is not waiting for one.
func (s *Session) stageNow() frame.Stage {
	if s.idleChosen() {
		return frame.StageLoad
	}
	return frame.Stage(s.stage.Load())
}
