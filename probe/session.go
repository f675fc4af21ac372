// Package probe joins the three sources of a measurement: what the client saw,
// what the engine says, what the hardware says. A Session owns the clock and
// closes a Frame on every tick; everything that shows, judges, stores or
// exports reads frame.Frames, and the operator's wishes come back through Controls.
package probe

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"sonde/gpu"
	"sonde/probe/api"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/load"
	"sonde/probe/measure"
	"sonde/probe/prompt"
)

// Session measures one endpoint. It is a Frames and a Controls.
type Session struct {
	opt     Options
	addr    api.Address
	epoch   time.Time
	started time.Time

	mu        sync.Mutex // guards what follows up to the blank line
	wish      frame.Load
	loadAsked bool                      // the operator has chosen a load
	todo      []func(now time.Duration) // orders for the next tick, oldest first
	events    []frame.Event
	fatal     error
	ticks     []chan struct{} // of followers
	ended     bool
	closing   bool // Connect comes too late
	pool      *load.Pool
	client    *api.Client
	engine    engineSource
	gpu       gpu.Source

	told  atomic.Pointer[gpu.Told] // written once, by the goroutine that asks
	stage atomic.Int32             // a Stage; written by the goroutine that connects

	// The ticking goroutine's own.
	collector *measure.Collector
	health    healthWatch
	long      *longWatch
	longSlots []int // of long prompts on their way at the last tick
	tooLong   tooLongWatch
	refusals  refusalWatch
	spent     int64 // tokens of requests that ended
	lastTick  time.Duration
	running   runningMean

	frames ring
	tick   <-chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

// New makes a Session and checks its address. Nothing is sent before Connect.
func New(opt Options) (*Session, error) {
	if opt.Tick == 0 {
		opt.Tick = DefaultTick
	}
	if err := checkFiles(opt.Load.Concurrency, opt.Embedded); err != nil {
		return nil, err
	}
	opt.Load = opt.clamp(opt.Load)
	addr, err := api.ParseAddress(opt.URL, api.Kind(opt.API))
	if err != nil {
		return nil, err
	}
	if file, ok := opt.Prompts.(*prompt.File); ok && addr.Kind == api.Completions && file.HasMessages() {
		return nil, errors.New("the prompt file holds lists of messages, which only the chat endpoint takes: leave out --api completions, or give texts")
	}
	now := time.Now()
	s := &Session{
		opt: opt, addr: addr, epoch: now, started: now, wish: opt.unloaded(),
		done: make(chan struct{}),
	}
	s.enter(frame.StageConnecting)
	s.tick = s.subscribe()
	s.collector = measure.NewCollector(s.retrying)
	return s, nil
}

// Start begins to close frame.Frames, before any server has answered.
func (s *Session) Start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	s.health.start(s.opt.Process)
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
	s.mu.Lock()
	s.closing = true
	pool, client := s.pool, s.client
	s.mu.Unlock()
	if pool != nil {
		pool.Close()
	}
	s.cancel()
	<-s.done
	if client != nil {
		client.Close()
	}
}

// URL is the address that requests go to first, without credentials.
func (s *Session) URL() string { return api.Redacted(s.addr.Requests[0]) }

// Since returns the Frames after seq, oldest first, as many as are kept.
func (s *Session) Since(seq uint64) []*frame.Frame { return s.frames.since(seq) }

// Tick receives after every frame.Frame, and is closed when the Session ends.
func (s *Session) Tick() <-chan struct{} { return s.tick }

func (s *Session) run(ctx context.Context) {
	ticker := time.NewTicker(s.opt.Tick)
	defer ticker.Stop()
	s.closeFrame()
	for {
		select {
		case <-ctx.Done():
			s.closeFrame()
			return
		case <-ticker.C:
			s.closeFrame()
		}
	}
}

// stoppedAfter is how late a tick has to be for us to say that our process did
// not run (SIGSTOP, a suspended machine): beyond any scheduler that is merely busy.
const stoppedAfter = 500 * time.Millisecond

// closeFrame ends the slice and publishes what is known.
func (s *Session) closeFrame() {
	now := s.now()
	slice := now - s.lastTick
	s.lastTick = now
	stopped := slice > s.opt.Tick+stoppedAfter
	wish, events, fatal := s.orders(now)
	t := s.collector.Tick(now, stopped)
	if stopped {
		events = append(events, frame.Event{At: now, Kind: frame.EventNote, Text: "this process was stopped for a while: requests of that time are left out"})
	}
	events = append(events, s.watchLong(now, &t)...)
	events = append(events, s.watchSpending(now, t.Requests)...)
	events = append(events, s.watchTooLong(now, t.Requests)...)
	events = append(events, s.watchRefusals(now, t.Requests)...)
	f := &frame.Frame{
		At: now, Slice: slice, Stopped: stopped, Target: s.target(),
		Load:   frame.LoadState{Asked: wish, Level: t.Level, Settled: t.Settled, Max: s.opt.MaxConcurrency, Stage: s.stageNow()},
		Client: t.Client, Health: s.health.frame(&t, slice, s.opt.Tick, s.stamps(), wish),
		Streams: t.Cells, Requests: t.Requests, Events: events, Err: fatal,
	}
	s.readSources(f)
	f.Roofline = s.roofline(f)
	s.frames.add(f)
	s.announce()
}

// orders carries out what was asked since the last tick.
func (s *Session) orders(now time.Duration) (frame.Load, []frame.Event, error) {
	s.mu.Lock()
	todo, events := s.todo, s.events
	s.todo, s.events = nil, nil
	wish, fatal := s.wish, s.fatal
	s.mu.Unlock()
	for _, do := range todo {
		do(now)
	}
	return wish, events, fatal
}

func (s *Session) now() time.Duration { return time.Since(s.epoch) }

// Fail makes the error the last word: readers see it in the next Frame.
func (s *Session) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fatal == nil {
		s.fatal = err
	}
}

// lastWords publishes the error that ended the ticking itself.
func (s *Session) lastWords(err error) {
	s.Fail(err)
	s.frames.add(&frame.Frame{At: s.now(), Err: err})
}

func (s *Session) retrying() int {
	s.mu.Lock()
	pool := s.pool
	s.mu.Unlock()
	if pool == nil {
		return 0
	}
	return pool.Retrying()
}
