package scrape

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/guard"
	"sonde/probe/prom"
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
	replica  atomic.Pointer[string]
	chosen   chan struct{} // another model or replica was chosen
	latest   atomic.Pointer[engine.Status]

	// What follows is Run's own.
	identity  engine.Identity
	parser    *prom.Parser
	facts     *factBook
	prev      *snapshot // of the last page that was read
	lineage   lineage   // of the processes that answered as the page
	searched  time.Time // when the page was last looked for
	extras    []*extraState
	extraKind string            // the kind that extras are of
	onPage    []string          // models on the last page that was read
	replicas  []engine.Replica  // on the same page
	keys      map[string]string // of replicas that were chosen, by name
}

// NewSource makes a source for an engine that Detect has found. Nothing is read
// before Run.
func NewSource(c Config, id engine.Identity) *Source {
	s := &Source{fetch: newFetcher(c), interval: c.Interval, identity: id, parser: newParser(), facts: newFactBook(), chosen: make(chan struct{}, 1), keys: map[string]string{}}
	if s.interval <= 0 {
		s.interval = defaultInterval
	}
	s.model.Store(&id.Model)
	s.replica.Store(new(string))
	first := engine.Status{Identity: id, State: engine.Connecting, Why: "no reading yet"}
	if id.MetricsURL == "" {
		first.State, first.Why = engine.NotReported, id.MetricsWhy
		if c.MetricsURL == metricsOff {
			first.State = engine.Off
		}
	}
	s.latest.Store(&first)
	s.searched = time.Now() // by Detect
	return s
}

// Latest returns the newest status. It never waits.
func (s *Source) Latest() engine.Status { return *s.latest.Load() }

// SetModel chooses the model to read where a page carries several. The page is read
// again at once; rates start over, except from Prometheus.
func (s *Source) SetModel(name string) { choose(s, &s.model, name) }

// SetReplica chooses the replica, or of one server the rank, to read: its name as in
// Status.Replicas, or a label's value; "" merges all. It shows when SetModel does.
func (s *Source) SetReplica(name string) { choose(s, &s.replica, name) }

func choose(s *Source, what *atomic.Pointer[string], name string) {
	what.Store(&name)
	select {
	case s.chosen <- struct{}{}:
	default: // it is on its way
	}
}

// subject is what was chosen.
func (s *Source) subject() subject {
	return subject{model: *s.model.Load(), replica: *s.replica.Load(), keys: s.keys}
}

// searchEvery is the time between two looks for a page that was not there: an
// engine may be restarted with its metrics switched on.
const searchEvery = 30 * time.Second

// Run reads the engine's pages until ctx ends: one scrape at a time, less often
// while it fails. It returns at once if the engine has none.
func (s *Source) Run(ctx context.Context) {
	s.repeat(ctx, s.search, s.scrape, func() time.Duration { return max(s.interval, kinds.ByID(s.identity.Kind).Every) })
}

// repeat reads again and again while there is something to read: one at a time, least apart,
// and less often while that fails.
func (s *Source) repeat(ctx context.Context, ready, read func(context.Context) bool, least func() time.Duration) {
	backOff := firstBackOff
	for ctx.Err() == nil && ready(ctx) {
		begin := time.Now()
		ok := s.guarded(ctx, read)
		wait := least() - time.Since(begin)
		if ok {
			backOff = firstBackOff
		} else {
			wait = max(backOff, least())
			backOff = min(2*backOff, maxBackOff)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		case <-s.chosen:
		}
	}
}

// guarded reads once. A panic is a failure like any other.
func (s *Source) guarded(ctx context.Context, read func(context.Context) bool) (ok bool) {
	defer guard.Catch("engine metrics", func(err error) {
		ok = false
		s.fail(err.Error())
	})
	return read(ctx)
}

// search looks for a page until there is something to read. It reports whether there
// is: not where nothing is to be found, and not after ctx has ended.
func (s *Source) search(ctx context.Context) bool {
	for s.identity.MetricsURL == "" {
		k := kinds.ByID(s.identity.Kind)
		hopeless := s.fetch.config.MetricsURL != "" || k.NoPage != ""
		hasExtras := len(k.Extra) > 0 && s.fetch.config.MetricsURL != metricsOff
		switch due := time.Until(s.searched.Add(searchEvery)); {
		case hopeless || hasExtras && due > 0:
			return hasExtras
		case due > 0:
			select {
			case <-ctx.Done():
				return false
			case <-time.After(due):
			}
		}
		s.searchOnce(ctx, k)
	}
	return true
}

func (s *Source) searchOnce(ctx context.Context, k *kinds.Kind) {
	s.searched = time.Now()
	page := s.fetch.findMetrics(ctx, k, *s.model.Load())
	s.identity.MetricsURL, s.identity.MetricsWhy = page.url, page.why
	if s.identity.Kind == "" && page.by != nil {
		become(&s.identity, page.by)
	}
}

// scrape reads the page once and publishes the outcome. It reports whether the page
// could be read.
func (s *Source) scrape(ctx context.Context) bool {
	of := s.subject()
	shot, err := s.read(ctx, of)
	read, why := 0, ""
	if of.replica == "" { // those pages cover all replicas
		read, why = s.readExtras(ctx, &shot, err == nil)
	}
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil && read == 0:
		s.onPage, s.replicas = shot.onPage, shot.replicas()
		if why != "" {
			err = fmt.Errorf("%w; %s", err, why)
		}
		s.fail(err.Error())
		return false
	case err != nil: // the page goes first: it would say most
		shot.Notes = slices.Insert(shot.Notes, 0, err.Error())
	}
	if s.identity.MetricsURL != "" {
		s.identity.MetricsWhy = ""
		if err != nil {
			s.identity.MetricsWhy = err.Error()
		}
	}
	if k := kinds.ByID(shot.Engine); s.identity.Kind == "" && k.ID != "" {
		become(&s.identity, k) // its page shows it only now
	}
	if s.prev != nil && (s.prev.model != shot.model || s.prev.Replica != shot.Replica) {
		s.lineage = lineage{}
	}
	if s.lineage.add(&shot) {
		s.prev = nil
		s.several()
		return true
	}
	shot.since(s.prev)
	s.prev = &shot
	if n := shot.MaxModelLen; n.OK && s.identity.MaxModelLen == 0 {
		s.identity.MaxModelLen = kinds.OrKeep(n.V, 0) // reported only now: some load a model with the first request
	}
	s.publish(&shot, max(s.interval, kinds.ByID(s.identity.Kind).Every))
	return true
}

// publish makes a snapshot the newest status.
func (s *Source) publish(shot *snapshot, period time.Duration) {
	s.onPage, s.replicas = shot.onPage, shot.replicas()
	s.latest.Store(&engine.Status{
		Identity: s.identity, Reading: shot.Reading, Have: true, State: engine.Ready, Period: period,
		OnPage: s.onPage, Replicas: s.replicas,
	})
}

// several publishes that there is no reading of any one engine.
func (s *Source) several() {
	s.latest.Store(&engine.Status{
		Identity: s.identity, State: engine.Several, Period: s.interval,
		Why: fmt.Sprintf("several engines take turns answering at %s, as behind a load balancer, so no figure covers all of them: read them from their Prometheus server with --prometheus URL, or give one engine's own page with --metrics",
			shown(cmp.Or(s.identity.MetricsURL, s.fetch.config.Base))),
	})
}

// fail keeps the last reading and says why there is no newer one.
func (s *Source) fail(why string) {
	status := s.Latest()
	status.Identity, status.State, status.Why, status.OnPage, status.Replicas = s.identity, engine.Failed, why, s.onPage, s.replicas
	s.latest.Store(&status)
}

// address is that of the page, with the chosen model where there is one for each. A model in
// the address that was given stays.
func (s *Source) address(model string) string {
	u, err := url.Parse(s.identity.MetricsURL)
	if err != nil || !u.Query().Has(modelQuery) || strings.Contains(s.fetch.config.MetricsURL, modelQuery+"=") {
		return s.identity.MetricsURL
	}
	return withModel(s.identity.MetricsURL, model)
}

// read fetches and parses the metrics page. The error is one sentence; the snapshot can
// be filled from other pages even so.
func (s *Source) read(ctx context.Context, of subject) (snapshot, error) {
	model := of.model
	if s.identity.MetricsURL == "" {
		return newSnapshot(model), errors.New(s.identity.MetricsWhy)
	}
	address := s.address(model)
	g := s.fetch.lookFor(ctx, s.parser, address, model)
	if !g.isPage() {
		return newSnapshot(model), errors.New(s.fetch.why(g, kinds.ByID(s.identity.Kind)))
	}
	if g.url != address { // there is one for each model
		s.identity.MetricsURL, address = g.url, g.url
	}
	fits := fitting(g.page, kinds.All)
	if len(fits) == 0 {
		return newSnapshot(model), errors.New(unreadable(g.body, kinds.ByID(s.identity.Kind)))
	}
	shot, err := s.facts.read(g.page, fits, of, g.at)
	if shot.Model == "" && strings.Contains(address, modelQuery+"=") {
		shot.Model = model // a page of each, which need not name it
	}
	if shot.started == 0 {
		shot.started = g.page.Created()
	}
	if started, e := strconv.ParseFloat(g.header.Get(startHeader), 64); e == nil {
		shot.started = max(shot.started, started)
	}
	return shot, err
}
