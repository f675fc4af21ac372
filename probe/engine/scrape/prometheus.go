package scrape

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/prom"
)

// PrometheusSource reads the engine's series from a Prometheus server instead of its page,
// merged over all replicas that the selector matches. It publishes through the Source in it.
type PrometheusSource struct {
	*Source
	poller *prom.Poller
	kinds  []*kinds.Kind // whose series are queried
	unread error         // why the newest samples give no reading

	news   [2]prom.News     // the newest samples and those before: another choice is read from them at once
	readAs subject          // what the newest samples were read as
	known  []engine.Replica // all that had series, as they were last seen
}

// NewPrometheusSource makes a source for an engine that Detect has found. The
// selector holds further matchers in PromQL, "" for none. Nothing is read before Run.
func NewPrometheusSource(server *prom.Server, selector string, id engine.Identity) *PrometheusSource {
	id.MetricsURL, id.MetricsWhy = server.URL(), ""
	of := fleetKinds(id)
	return &PrometheusSource{
		Source: NewSource(Config{}, id), kinds: of,
		poller: prom.NewPoller(server, fleetQuery(of, selector)),
	}
}

// Run sends queries until ctx ends: one at a time, less often while they fail or while
// targets are scraped seldom.
func (p *PrometheusSource) Run(ctx context.Context) {
	always := func(context.Context) bool { return true }
	p.repeat(ctx, always, p.ask, func() time.Duration { return max(p.interval, p.poller.Pause()) })
}

// ask sends one query and publishes the outcome. It reports whether there was an
// answer.
func (p *PrometheusSource) ask(ctx context.Context) bool {
	p.readAnew()
	news, err := p.poller.Next(ctx)
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		p.fail(err.Error())
		return false
	case news.Fresh:
		p.news = [2]prom.News{news, p.news[0]}
		p.unread = p.take(news)
	}
	p.settle(p.unread, news.Stale)
	return true
}

// settle publishes that the last reading is the newest there can be, unless something
// is wrong.
func (p *PrometheusSource) settle(wrong ...error) {
	for _, err := range wrong {
		if err != nil {
			p.fail(err.Error())
			return
		}
	}
	if status := p.Latest(); status.State != engine.Ready {
		status.State, status.Why = engine.Ready, ""
		p.latest.Store(&status)
	}
}

// readAnew reads the newest samples as what has been chosen meanwhile, and the ones
// before so that there are rates.
func (p *PrometheusSource) readAnew() {
	of := p.subject()
	if of.model == p.readAs.model && of.replica == p.readAs.replica || len(p.news[0].Samples) == 0 {
		return
	}
	p.prev = nil
	if len(p.news[1].Samples) > 0 {
		if shot, err := p.snapshot(p.news[1], of); err == nil {
			p.prev = &shot
		}
	}
	p.unread = p.take(p.news[0])
	p.settle(p.unread, p.news[0].Stale)
}

// take makes a reading of news and publishes it.
func (p *PrometheusSource) take(news prom.News) error {
	of := p.subject()
	p.readAs = of
	shot, err := p.snapshot(news, of)
	if err != nil {
		p.onPage, p.replicas = shot.onPage, shot.replicas()
		return err
	}
	shot.Notes = append(shot.Notes, news.Notes...)
	if named := shot.onPage; len(named) == 1 && of.model != "" && !strings.EqualFold(named[0], of.model) {
		shot.Note(fmt.Sprintf("the series are for model %s", named[0]))
	}
	p.remember(&shot, news)
	shot.regroup(p.prev)
	shot.since(p.prev)
	p.prev = &shot
	if k := kinds.ByID(shot.Engine); p.identity.Kind == "" && k.ID != "" {
		become(&p.identity, k)
	}
	// Samples are as new as the server has them: one that answers with what was half a
	// minute ago does not make them stale.
	p.publish(&shot, max(p.poller.Period(), time.Since(shot.At)))
	return nil
}

// remember notes which replicas are gone: the series of a target end when it cannot be
// scraped. Where the server knows which targets it cannot scrape, the others that have
// ended were removed; elsewhere one is forgotten when another has taken its place.
func (p *PrometheusSource) remember(shot *snapshot, news prom.News) {
	now := slices.DeleteFunc(shot.replicas(), func(r engine.Replica) bool { return r.OfServer && r.Instance == "" && r.Pod == "" })
	shot.Replicas = len(now)
	before := len(p.known)
	gone := slices.DeleteFunc(p.known, func(r engine.Replica) bool {
		return slices.ContainsFunc(now, func(n engine.Replica) bool { return sameReplica(n, r) })
	})
	slices.SortFunc(gone, func(a, b engine.Replica) int { return b.At.Compare(a.At) })
	if news.KnowsDown {
		gone = downOf(news.Down, gone)
	} else {
		gone = gone[:min(len(gone), max(0, before-len(now)))]
	}
	for _, r := range gone {
		shot.Gone = append(shot.Gone, engine.Gone{Name: r.Name, Since: r.At})
	}
	p.known = slices.Concat(now, gone)
}

func sameReplica(a, b engine.Replica) bool {
	return a.Name == b.Name || a.Instance != "" && a.Instance == b.Instance && a.Pod == b.Pod
}

// downOf returns the replicas that cannot be scraped, as they were known before.
func downOf(down []map[string]string, known []engine.Replica) []engine.Replica {
	var out []engine.Replica
	for _, labels := range down {
		r := engine.Replica{Pod: labels["pod"], Instance: labels["instance"]}
		for _, label := range nameLabels {
			r.Name = cmp.Or(r.Name, labels[label])
		}
		if i := slices.IndexFunc(known, func(k engine.Replica) bool { return sameReplica(k, r) }); i >= 0 {
			r = known[i]
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b engine.Replica) int { return compareNatural(a.Name, b.Name) })
	return out
}

// snapshot reads the samples of news. The error is a sentence.
func (p *PrometheusSource) snapshot(news prom.News, of subject) (snapshot, error) {
	page := prom.FromSamples(readOnly(news.Samples))
	fits := fitting(page, p.kinds)
	if len(fits) == 0 {
		return newSnapshot(of.model), fmt.Errorf("the series from Prometheus include none of %s queue, KV cache and latencies: check --selector", owners(p.kinds))
	}
	of.scraped = news.ScrapedAt
	return newFactBook().read(page, fits, of, news.At)
}

// owners names the engines whose figures are missing: "vLLM's".
func owners(of []*kinds.Kind) string {
	if len(of) == 1 {
		return of[0].Name + "'s"
	}
	return "any engine's"
}

// readOnly leaves the samples that the tables read, as readable does with a page.
func readOnly(samples []prom.Sample) []prom.Sample {
	var out []prom.Sample
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

// fleetKinds are the engines whose series are queried: the one that answers; or, where that
// is unknown or a gateway, whose engines Prometheus may know better, all that have names of
// their own.
func fleetKinds(id engine.Identity) []*kinds.Kind {
	k := kinds.ByID(id.Kind)
	switch {
	case k == &kinds.Sim:
		return []*kinds.Kind{&kinds.VLLM} // whose names it publishes
	case isFleetKind(k):
		return []*kinds.Kind{k}
	}
	var all []*kinds.Kind
	for _, k := range kinds.All {
		if isFleetKind(k) {
			all = append(all, k)
		}
	}
	return all
}

// isFleetKind reports whether an engine's series can be found by a prefix of its own.
func isFleetKind(k *kinds.Kind) bool {
	if k.Table == nil || k.Table.Router || k.Table.Companion || k.NoPage != "" {
		return false
	}
	prefix := k.Table.Prefixes[0]
	return prefix != "" && strings.HasPrefix(k.Prefixes[0], prefix)
}

// fleetQuery is the query for the series of some engines.
func fleetQuery(of []*kinds.Kind, selector string) prom.Query {
	q := prom.Query{Selector: selector, Down: true}
	var what, patterns []string
	for _, k := range of {
		what = append(what, k.Table.Prefixes[0]+"…")
		for _, prefix := range k.Prefixes {
			patterns = append(patterns, regexp.QuoteMeta(prefix)+".*")
		}
		for _, e := range k.Table.Fields[engine.FieldRunning] {
			for _, prefix := range k.Table.Prefixes {
				q.Markers = append(q.Markers, prefix+e.Metrics[0].Name)
			}
		}
	}
	q.What, q.Names = strings.Join(what, ", "), strings.Join(patterns, "|")
	return q
}
