package prom

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"time"

	"sonde/probe/plain"
)

// Poller repeats one query and returns what is new. One goroutine uses it.
type Poller struct {
	server *Server
	query  Query

	clock  clock
	rhythm Rhythm
	taken  map[target]time.Time // scrapes in the last news, by the server's clock
	newest time.Time            // of them
	known  map[target]bool      // all that had samples, or were down at the first answer
	hasUp  bool                 // the server keeps the series up of the targets
}

// NewPoller prepares the polling of a query. Nothing is sent before Next.
func NewPoller(s *Server, q Query) *Poller {
	return &Poller{server: s, query: q, known: map[target]bool{}}
}

// News is the result of one query.
type News struct {
	// Fresh means that every target was scraped since the last news; only then are
	// there samples. In between, the counters of some would stand still.
	Fresh   bool
	At      time.Time // mean time of the targets' scrapes, by our clock
	Samples []Sample  // of targets that are alive, the one scraped last first
	Notes   []string  // remarks for people
	Stale   error     // says that the newest sample is old; nil if it is not

	Down      []map[string]string // labels of targets that cannot be scraped
	KnowsDown bool                // targets that have no samples and are not Down are no longer to be scraped

	scraped map[target]time.Time // by our clock
}

// ScrapedAt is when the target of a series was scraped, by our clock; zero if the
// news has no such target.
func (n News) ScrapedAt(labels map[string]string) time.Time {
	return n.scraped[target{labels["job"], labels["instance"]}]
}

// Next sends the query once. The error is a sentence for people.
func (p *Poller) Next(ctx context.Context) (News, error) {
	x, err := p.server.ask(ctx, p.query.text(p.jobs()))
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
func (p *Poller) Pause() time.Duration { return p.rhythm.Period() / 5 }

// Period is the time between scrapes, 0 until known.
func (p *Poller) Period() time.Duration { return p.rhythm.Period() }

// news compares an answer with the last news.
func (p *Poller) news(a answer) News {
	p.learnTargets(a)
	p.clock.learn(a.at, a.now)
	newest := latest(a.scraped)
	alive, silent := a.split(newest.Add(-p.rhythm.patience()))
	n := News{At: p.clock.ours(mean(alive), a.at), Notes: append(a.notes, p.remarks(len(alive), silent)...)}
	if age := a.now.Sub(newest); age > p.rhythm.patience() {
		n.Stale = fmt.Errorf("Prometheus at %s has had no newer sample of %s for %v: does it still scrape them?",
			p.server.base, p.query.described(), age.Round(time.Second))
	}
	if n.Fresh = p.advanced(alive); !n.Fresh {
		return n
	}
	for of, labels := range a.down {
		if _, seen := alive[of]; !seen { // else another server of a pair can scrape it
			n.Down = append(n.Down, labels)
		}
	}
	n.KnowsDown = p.hasUp
	if len(p.taken) > 0 {
		p.rhythm.Add(newest.Sub(p.newest))
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

// learnTargets remembers the targets of the query, and forgets what else of their jobs is
// down. Those that are down at the first answer belong to it.
func (p *Poller) learnTargets(a answer) {
	p.hasUp = p.hasUp || a.hasUp
	first := len(p.known) == 0
	maps.DeleteFunc(a.down, func(of target, _ map[string]string) bool { return !first && !p.known[of] })
	for _, of := range slices.AppendSeq(slices.Collect(maps.Keys(a.samples)), maps.Keys(a.down)) {
		p.known[of] = true
	}
}

// jobs are those of the known targets, as regular expressions.
func (p *Poller) jobs() []string {
	var jobs []string
	for of := range p.known {
		jobs = append(jobs, regexp.QuoteMeta(of.job))
	}
	slices.Sort(jobs)
	return slices.Compact(jobs)
}

// advanced reports whether all targets were scraped since the last news, or a target
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

// remarks says what a reader of the figures should know.
func (p *Poller) remarks(alive int, silent []string) []string {
	var notes []string
	if period := p.rhythm.Period(); period >= 3*time.Second {
		notes = append(notes, fmt.Sprintf("Prometheus scrapes every %.0f s", period.Seconds()))
	}
	if len(silent) > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d targets sent nothing for over %v and are skipped: %s",
			len(silent), alive+len(silent), p.rhythm.patience(), plain.Line(plain.FirstFew(silent, 3), mostWords)))
	}
	return notes
}

// clock brings moments of a server's clock to ours.
type clock struct {
	offset time.Duration // ours less the server's
	known  bool
}

// learn compares what both clocks said for one answer. The answer that came soonest
// after its evaluation is the most accurate; a larger difference than a query can take is a
// step of a clock.
func (c *clock) learn(ours, theirs time.Time) {
	if d := ours.Sub(theirs); !c.known || d < c.offset || d > c.offset+timeout {
		c.offset, c.known = d, true
	}
}

// ours converts a past moment of the server's clock to ours, with the monotonic reading of
// now.
func (c *clock) ours(moment, now time.Time) time.Time {
	age := now.Add(-c.offset).Sub(moment)
	return now.Add(-max(age, 0))
}

// Rhythm learns how often new values come. The zero value has seen none.
type Rhythm struct{ spacings []time.Duration } // the newest few

// Add takes the time between two sets of values.
func (r *Rhythm) Add(spacing time.Duration) {
	const keep = 5
	if spacing > 0 {
		r.spacings = append(r.spacings, spacing)
		r.spacings = r.spacings[max(0, len(r.spacings)-keep):]
	}
}

// Period is the lower median, because a scrape that was missed only makes a
// spacing longer; 0 until known.
func (r *Rhythm) Period() time.Duration {
	if len(r.spacings) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.spacings))
	return sorted[(len(sorted)-1)/2]
}

// patience is how old a sample may be: three scrapes, but not so short that a late scrape
// exceeds it, and no longer than three of the longest usual interval, a minute.
func (r *Rhythm) patience() time.Duration {
	const least, most = 15 * time.Second, 3 * time.Minute
	if len(r.spacings) == 0 {
		return most
	}
	return min(max(3*r.Period(), least), most)
}

// split parts the targets into those scraped since a moment and the names of the
// others, whose last values would otherwise be counted for minutes.
func (a answer) split(since time.Time) (alive map[target]time.Time, silent []string) {
	alive = map[target]time.Time{}
	for of, scraped := range a.scraped {
		if scraped.Before(since) {
			silent = append(silent, of.instance)
			continue
		}
		alive[of] = scraped
	}
	slices.Sort(silent)
	return alive, silent
}

func latest(times map[target]time.Time) time.Time {
	var newest time.Time
	for _, t := range times {
		newest = later(newest, t)
	}
	return newest
}

// mean is the mean of times that lie close together.
func mean(times map[target]time.Time) time.Time {
	newest, behind := latest(times), time.Duration(0)
	for _, t := range times {
		behind += newest.Sub(t)
	}
	return newest.Add(-behind / time.Duration(len(times)))
}
