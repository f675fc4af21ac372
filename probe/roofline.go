package probe

import (
	"errors"
	"net/url"
	"sync"
	"time"

	"sonde/probe/api"
	"sonde/probe/collect"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// bounds puts the model on its hardware, and judges the live window of a Frame that
// is otherwise complete.
type bounds struct {
	requested *roofline.Roofline // nil: found by itself
	shapes    shapes
	running   runningMean
}

func (b *bounds) add(f *frame.Frame, _ *collect.Tick) {
	b.running.add(f)
	r, err := b.find(f)
	if err != nil {
		f.Roofline = roofline.Bounds{Why: err.Error()}
		return
	}
	f.Limits = &r
	f.Roofline = r.Judge(b.work(f))
}

// find returns the requested model and hardware, else those that the Frame shows.
func (b *bounds) find(f *frame.Frame) (roofline.Roofline, error) {
	if b.requested != nil {
		return *b.requested, nil
	}
	return f.FindLimits(func(id string, info roofline.ModelInfo) (roofline.Model, error) {
		return b.shapes.of(shapeKey{id, info, isLocal(f.Target.Host)})
	})
}

// isLocal reports whether a host:port is this machine.
func isLocal(host string) bool { return api.IsLocal(&url.URL{Host: host}) }

func (b *bounds) work(f *frame.Frame) roofline.Work {
	c := &f.Client
	work := roofline.Work{
		Batch: b.running.mean(), Input: c.InputTokens, Output: c.OutputTokens, Cached: c.CachedShare,
		InPerS: opt.Of(c.InTokensPerS), OutPerS: opt.Of(c.OutTokensPerS),
	}
	if work.Cached.Or(0) == 0 && f.Engine.Have { // usage does not always report it
		work.Cached = f.Engine.Reading.PrefixHitRate
	}
	if !work.Batch.OK {
		work.Batch = c.ConcurrencyMean
	}
	if c.TPOT.N > 0 {
		work.TPOTMS = opt.Of(c.TPOT.Mean)
	}
	return work
}

// shapeKey is all that the shape of a model depends on.
type shapeKey struct {
	model string
	info  roofline.ModelInfo
	local bool // the engine's paths are those of this machine
}

// shapes finds the shape of a model once. Files are read beside the ticks: the folder
// that the engine loaded may be on a slow mount, and no Frame waits for it.
type shapes struct {
	read func(shapeKey) (roofline.Model, error) // nil: roofline.Shape; tests replace it

	mu    sync.Mutex
	begun bool // for that key
	key   shapeKey
	model roofline.Model
	err   error
}

var errReadingShape = errors.New("reading the model's config.json")

// of returns the shape, or errReadingShape while it is read.
func (s *shapes) of(key shapeKey) (roofline.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun && s.key == key {
		return s.model, s.err
	}
	s.begun, s.key = true, key
	read := s.read
	if read == nil {
		read = func(k shapeKey) (roofline.Model, error) { return roofline.Shape(k.model, k.info, k.local) }
	}
	if !key.info.LocalFolder(key.local) {
		s.model, s.err = read(key)
		return s.model, s.err
	}
	s.model, s.err = roofline.Model{}, errReadingShape
	guard.Go("shape of the model", func(err error) { s.set(key, roofline.Model{}, err) }, func() {
		m, err := read(key)
		s.set(key, m, err)
	})
	return s.model, s.err
}

// set keeps what was read, unless another model is wanted by now.
func (s *shapes) set(key shapeKey, m roofline.Model, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == key {
		s.model, s.err = m, err
	}
}

// runningMean is the mean of the engine's running requests over the live window. It
// belongs to the ticking goroutine.
type runningMean struct {
	seen []runningAt
}

type runningAt struct {
	at      time.Duration
	running float64
}

// add takes the figure of a Frame, and drops those that left the window.
func (m *runningMean) add(f *frame.Frame) {
	if r := f.Engine.Reading.Running; f.Engine.State != engine.Failed && r.OK {
		m.seen = append(m.seen, runningAt{f.At, r.V})
	}
	old := 0
	for old < len(m.seen) && m.seen[old].at <= f.At-f.Client.Window {
		old++
	}
	m.seen = append(m.seen[:0], m.seen[old:]...)
}

func (m *runningMean) mean() opt.Float {
	sum := 0.0
	for _, s := range m.seen {
		sum += s.running
	}
	return opt.Of(sum / float64(len(m.seen))) // none: unknown
}
