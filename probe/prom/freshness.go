package prom

import (
	"slices"
	"strings"
	"time"
)

// clock brings moments of a server's clock to ours.
type clock struct {
	offset time.Duration // ours less the server's
	known  bool
}

// learn takes what both clocks said of one answer. The answer that came soonest
// after its evaluation tells best; a larger difference than a query can take is a
// step of a clock.
func (c *clock) learn(ours, theirs time.Time) {
	if d := ours.Sub(theirs); !c.known || d < c.offset || d > c.offset+timeout {
		c.offset, c.known = d, true
	}
}

// ours is a past moment of the server's clock by ours, with the monotonic reading
// of now.
func (c *clock) ours(moment, now time.Time) time.Time {
	age := now.Add(-c.offset).Sub(moment)
	return now.Add(-max(age, 0))
}

// rhythm learns how often targets are scraped.
type rhythm struct{ spacings []time.Duration } // the newest few

func (r *rhythm) add(spacing time.Duration) {
	const keep = 5
	if spacing > 0 {
		r.spacings = append(r.spacings, spacing)
		r.spacings = r.spacings[max(0, len(r.spacings)-keep):]
	}
}

// period is the lower median, because a scrape that was missed only makes a
// spacing longer; 0 until known.
func (r *rhythm) period() time.Duration {
	if len(r.spacings) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(r.spacings))
	return sorted[(len(sorted)-1)/2]
}

// patience is how old a sample may be: three scrapes, within bounds that late
// scrapes and the longest usual interval, a minute, set.
func (r *rhythm) patience() time.Duration {
	const least, most = 15 * time.Second, 3 * time.Minute
	if len(r.spacings) == 0 {
		return most
	}
	return min(max(3*r.period(), least), most)
}

// split parts the targets into those scraped since a moment and the names of the
// others, whose last values would else be counted for minutes.
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

// list names a few targets.
func list(names []string) string {
	const most = 3
	text := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		text += ", …"
	}
	return clean(text)
}
