package prom

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// Poller asks the same query again and again and tells what is new. One goroutine
// uses it.
type Poller struct {
	server *Server
	query  Query

	clock  clock
	rhythm rhythm
	taken  map[target]time.Time // scrapes in the last news, by the server's clock
	newest time.Time            // of them
}

// NewPoller prepares the polling of a query. Nothing is sent before Next.
func NewPoller(s *Server, q Query) *Poller { return &Poller{server: s, query: q} }

// News is what one query brought.
type News struct {
	// Fresh tells that every target was scraped since the last news; only then there
	// are samples. In between, the counters of some would stand still.
	Fresh   bool
	At      time.Time // mean time of the targets' scrapes, by our clock
	Samples []Sample  // of targets that are alive, the one scraped last first
	Notes   []string  // remarks for people
	Why     string    // that the newest sample is old; "" if it is not

	scraped map[target]time.Time // by our clock
}

// ScrapedAt is when the target of a series was scraped, by our clock; zero if it is
// none of the news'.
func (n News) ScrapedAt(labels map[string]string) time.Time {
	return n.scraped[target{labels["job"], labels["instance"]}]
}

// Next asks once. The error is a sentence for people.
func (p *Poller) Next(ctx context.Context) (News, error) {
	x, err := p.server.ask(ctx, p.query.String())
	if err != nil {
		return News{}, p.server.unreached(err)
	}
	r, foreign := decode(x.body)
	if foreign != nil || r.Status != "success" || x.status != http.StatusOK {
		return News{}, p.server.refusal(x, r, foreign)
	}
	a := r.sorted(x)
	if len(a.samples) == 0 {
		return News{}, p.server.missing(p.query)
	}
	return p.news(a), nil
}

// Pause is how long the next query can wait at least: a fifth of the time between
// scrapes, 0 until that is known.
func (p *Poller) Pause() time.Duration { return p.rhythm.period() / 5 }

// Period is the time between scrapes, 0 until known.
func (p *Poller) Period() time.Duration { return p.rhythm.period() }

// news compares an answer with the last news.
func (p *Poller) news(a answer) News {
	p.clock.learn(a.at, a.now)
	newest := latest(a.scraped)
	alive, silent := a.split(newest.Add(-p.rhythm.patience()))
	n := News{At: p.clock.ours(mean(alive), a.at), Notes: append(a.notes, p.remarks(len(alive), silent)...)}
	if age := a.now.Sub(newest); age > p.rhythm.patience() {
		n.Why = fmt.Sprintf("Prometheus at %s has had no newer sample of %s for %v: does it still scrape them?",
			p.server.base, p.query.described(), age.Round(time.Second))
	}
	if n.Fresh = p.advanced(alive); !n.Fresh {
		return n
	}
	if len(p.taken) > 0 {
		p.rhythm.add(newest.Sub(p.newest))
	}
	p.taken, p.newest = alive, newest
	n.scraped = map[target]time.Time{}
	for of, scraped := range alive {
		n.scraped[of] = p.clock.ours(scraped, a.at)
	}
	newestFirst := func(x, y target) int { return cmp.Or(alive[y].Compare(alive[x]), x.compare(y)) }
	for _, of := range slices.SortedFunc(maps.Keys(alive), newestFirst) {
		n.Samples = append(n.Samples, a.samples[of]...)
	}
	return n
}

// advanced tells whether all targets were scraped since the last news, or a target
// has joined.
func (p *Poller) advanced(alive map[target]time.Time) bool {
	all := true
	for of, scraped := range alive {
		before, known := p.taken[of]
		if !known {
			return true
		}
		all = all && scraped.After(before)
	}
	return all
}

// remarks says what a reader of the figures has to know.
func (p *Poller) remarks(alive int, silent []string) []string {
	var notes []string
	if period := p.rhythm.period(); period >= 3*time.Second {
		notes = append(notes, fmt.Sprintf("Prometheus scrapes every %.0f s", period.Seconds()))
	}
	if len(silent) > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d targets sent nothing for over %v and are left out: %s",
			len(silent), alive+len(silent), p.rhythm.patience(), list(silent)))
	}
	return notes
}
