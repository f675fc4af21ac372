package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sonde/probe/guard"
	"sonde/probe/promql"
	"sonde/probe/promtext"
)

// PrometheusSource reads the engine's series from a Prometheus server instead of
// its page, merged over all replicas that the selector leaves. It publishes through
// the Source in it.
type PrometheusSource struct {
	*Source
	poller *promql.Poller
	kinds  []*kind // whose series are asked for
	unread error   // why the newest samples give no reading
}

// NewPrometheusSource makes a source for an engine that Detect has found. The
// selector holds further matchers in PromQL, "" for none. Nothing is read before Run.
func NewPrometheusSource(server *promql.Server, selector string, id Identity) *PrometheusSource {
	id.MetricsURL, id.MetricsWhy = server.URL(), ""
	of := fleetKinds(id)
	return &PrometheusSource{
		Source: NewSource(Config{}, id), kinds: of,
		poller: promql.NewPoller(server, fleetQuery(of, selector)),
	}
}

// Run asks until ctx ends: one query at a time, less often while it fails or while
// targets are scraped seldom.
func (p *PrometheusSource) Run(ctx context.Context) {
	backOff := firstBackOff
	for ctx.Err() == nil {
		begin := time.Now()
		wait := backOff
		if p.ask(ctx) {
			backOff = firstBackOff
			wait = max(p.interval, p.poller.Pause()) - time.Since(begin)
		} else {
			backOff = min(2*backOff, maxBackOff)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// ask sends one query and publishes the outcome. It tells whether there was an
// answer.
func (p *PrometheusSource) ask(ctx context.Context) (ok bool) {
	defer guard.Catch("engine metrics", func(err error) {
		ok = false
		p.fail(err.Error())
	})
	news, err := p.poller.Next(ctx)
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		p.fail(err.Error())
		return false
	case news.Fresh:
		p.unread = p.take(news)
	}
	switch status := p.Latest(); {
	case p.unread != nil:
		p.fail(p.unread.Error())
	case status.Why != news.Why:
		p.fail(news.Why)
	}
	return true
}

// take makes a reading of news and publishes it.
func (p *PrometheusSource) take(news promql.News) error {
	model := *p.model.Load()
	page := promtext.FromSamples(readOnly(news.Samples))
	fits := fitting(page, p.kinds)
	if len(fits) == 0 {
		return fmt.Errorf("the series from Prometheus hold none of %s queue, KV cache and latencies: check --selector", owners(p.kinds))
	}
	shot, err := read(page, fits, model, news.At)
	if err != nil {
		return errors.New(strings.Replace(err.Error(), "the metrics page carries", "the series from Prometheus carry", 1))
	}
	shot.Notes = append(shot.Notes, news.Notes...)
	if named := shot.onPage; len(named) == 1 && model != "" && !strings.EqualFold(named[0], model) {
		shot.note(fmt.Sprintf("the series are of the model %s", named[0]))
	}
	shot.since(p.prev)
	shot.replicasChanged(p.prev)
	p.prev = &shot
	if p.identity.Kind == "" {
		p.identity.be(fits[0])
	}
	p.latest.Store(&Status{Identity: p.named(model), Reading: shot.Reading, Have: true, Why: news.Why, OnPage: shot.onPage})
	return nil
}

// owners names the engines whose figures are missing: "vLLM's".
func owners(of []*kind) string {
	if len(of) == 1 {
		return of[0].name + "'s"
	}
	return "any engine's"
}

// replicasChanged marks a reading with more ranks than the one before. What they
// counted earlier must not pass for an increase; fewer ranks are noticed anyway.
func (s *snapshot) replicasChanged(prev *snapshot) {
	if prev == nil || prev.model != s.model {
		return
	}
	for field, now := range s.series {
		if len(now) > len(prev.series[field]) {
			s.Restarted = true
			s.note("a replica has joined: counters begin anew")
		}
	}
}

// readOnly leaves the samples that the tables read, as readable does with a page.
func readOnly(samples []promtext.Sample) []promtext.Sample {
	var out []promtext.Sample
	for _, s := range samples {
		family := s.Name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			family = strings.TrimSuffix(family, suffix)
		}
		if readNames[s.Name] || readNames[family] {
			out = append(out, s)
		}
	}
	return out
}
