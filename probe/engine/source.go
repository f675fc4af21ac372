package engine

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"sonde/probe/guard"
)

const (
	defaultInterval = time.Second
	firstBackOff    = time.Second
	maxBackOff      = 30 * time.Second
)

// Source reads an engine's metrics page again and again.
type Source struct {
	fetch    fetcher
	interval time.Duration
	model    atomic.Pointer[string]
	latest   atomic.Pointer[Status]
	identity Identity
	prev     *snapshot // of the last page that was read; Run's own
}

// NewSource makes a source for an engine that Detect has found. Nothing is read
// before Run.
func NewSource(c Config, id Identity) *Source {
	s := &Source{fetch: newFetcher(c), interval: c.Interval, identity: id}
	if s.interval <= 0 {
		s.interval = defaultInterval
	}
	s.model.Store(&id.Model)
	why := "no reading yet"
	if id.MetricsURL == "" {
		why = id.MetricsWhy
	}
	s.latest.Store(&Status{Identity: id, Why: why})
	return s
}

// Latest returns the newest status. It never waits.
func (s *Source) Latest() Status { return *s.latest.Load() }

// SetModel chooses the model to read where a page carries several. It shows with
// the next scrape; rates start anew.
func (s *Source) SetModel(name string) { s.model.Store(&name) }

// searchEvery is the time between two looks for a page that was not there: an
// engine may be restarted with its metrics switched on.
const searchEvery = 30 * time.Second

// search looks for the page until it is found. It gives up at once where there is
// none to be found, and when ctx ends.
func (s *Source) search(ctx context.Context) (found bool) {
	k := kindByID(s.identity.Kind)
	hopeless := s.fetch.config.MetricsURL != "" || k != nil && k.noPage != ""
	for s.identity.MetricsURL == "" {
		if hopeless {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(searchEvery):
		}
		page := s.fetch.findMetrics(ctx, k)
		s.identity.MetricsURL, s.identity.MetricsWhy = page.url, page.why
		if s.identity.Kind == "" && page.by != nil {
			s.identity.be(page.by)
		}
	}
	return true
}

// Run reads the page until ctx ends: one scrape at a time, less often while it
// fails. It returns at once if the engine has no page.
func (s *Source) Run(ctx context.Context) {
	if !s.search(ctx) {
		return
	}
	backOff := firstBackOff
	for ctx.Err() == nil {
		begin := time.Now()
		ok := s.scrape(ctx)
		wait := s.interval - time.Since(begin)
		if ok {
			backOff = firstBackOff
		} else {
			wait = max(backOff, s.interval)
			backOff = min(2*backOff, maxBackOff)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// scrape reads the page once and publishes the outcome. It tells whether the page
// could be read.
func (s *Source) scrape(ctx context.Context) (ok bool) {
	defer guard.Catch("engine metrics", func(err error) {
		ok = false
		s.fail(err.Error())
	})
	model := *s.model.Load()
	shot, err := s.read(ctx, model)
	if err != nil {
		if ctx.Err() == nil {
			s.fail(err.Error())
		}
		return false
	}
	shot.since(s.prev)
	s.prev = &shot
	s.latest.Store(&Status{Identity: s.named(model), Reading: shot.Reading, Have: true})
	return true
}

// fail keeps the last reading and says why there is no newer one.
func (s *Source) fail(why string) {
	status := s.Latest()
	status.Identity = s.named(*s.model.Load())
	status.Why = why
	s.latest.Store(&status)
}

func (s *Source) named(model string) Identity {
	id := s.identity
	id.Model = model
	return id
}

// read fetches the page and takes it apart. The error is one sentence.
func (s *Source) read(ctx context.Context, model string) (snapshot, error) {
	a, err := s.fetch.page(ctx, s.identity.MetricsURL)
	if err != nil {
		_, says := s.fetch.explain(s.identity.MetricsURL, err, probeTimeout)
		return snapshot{}, errors.New(says)
	}
	if a.status != http.StatusOK {
		return snapshot{}, errors.New(pageRefusal(a, kindByID(s.identity.Kind)))
	}
	page, t, err := readable(a.body)
	if err != nil {
		return snapshot{}, errors.New(notMetrics(a.url, err))
	}
	if t == nil {
		return snapshot{}, errors.New(unreadable(a.body, kindByID(s.identity.Kind)))
	}
	return read(page, t, model, a.at)
}
