package prom

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"sonde/probe/plain"
)

// Query says which series are wanted.
type Query struct {
	What     string // for messages: "vllm:…"
	Names    string // regular expression over the names
	Selector string // further matchers: job="x",namespace="y"; "" is none
	// Markers are names of which every target has at least one. When their samples
	// were taken is when the target was scraped.
	Markers []string
	Down    bool // also ask which targets cannot be scraped
}

// Labels that set parts of an answer apart from the series proper.
const (
	scrapedLabel = "sonde_scraped" // the value is when the target was scraped
	upLabel      = "sonde_up"      // the series is the target's up: 1, or 0 where it cannot be scraped
)

// seenFor is how long ago a target may have had its last sample and still count as down when
// the first query is sent.
const seenFor = "1h"

// text is the query in PromQL: the series; for each target, the time of its last scrape;
// and which targets are down. All come in one answer, so that they belong together. The
// function timestamp drops names, so it cannot be applied to all series at once. jobs are
// those of the targets that are known; without any, which targets belong to the query
// follows from the samples of the last hour.
func (q Query) text(jobs []string) string {
	matchers := fmt.Sprintf("__name__=~%q", q.Names)
	if q.Selector != "" {
		matchers += "," + q.Selector
	}
	text := "{" + matchers + "}"
	if len(q.Markers) == 0 {
		return text
	}
	each := func(format string) string {
		var all []string
		for _, name := range q.Markers {
			all = append(all, fmt.Sprintf(format, name+"{"+q.Selector+"}"))
		}
		return strings.Join(all, " or ")
	}
	text += fmt.Sprintf(` or label_replace(max by (job, instance) (%s), %q, "yes", "", "")`, each("timestamp(%s)"), scrapedLabel)
	if !q.Down {
		return text
	}
	up := fmt.Sprintf("up and on (job, instance) (%s)", each("count_over_time(%s["+seenFor+"])"))
	if len(jobs) > 0 {
		up = fmt.Sprintf("up{job=~%q} == 0", strings.Join(jobs, "|"))
	}
	return text + fmt.Sprintf(` or label_replace(%s, %q, "yes", "", "")`, up, upLabel)
}

// described is the query as a message names it.
func (q Query) described() string {
	if q.Selector == "" {
		return q.What
	}
	return q.What + " with " + plain.Line(q.Selector, mostWords)
}

// target is a scraped process, by the labels that Prometheus itself sets.
type target struct{ job, instance string }

func (t target) compare(other target) int {
	return cmp.Or(cmp.Compare(t.job, other.job), cmp.Compare(t.instance, other.instance))
}

// answer is a decoded vector, sorted by target.
type answer struct {
	samples map[target][]Sample
	scraped map[target]time.Time         // by the server's clock
	down    map[target]map[string]string // labels of targets that cannot be scraped
	hasUp   bool                         // the server keeps the series up of these targets
	now     time.Time                    // by the server's clock
	at      time.Time                    // the same moment or a little later, by ours
	notes   []string                     // warnings of the server
}

// reply is the JSON of the query API.
type reply struct {
	Status    string
	ErrorType string
	Error     string
	Warnings  []string
	Data      struct {
		ResultType string
		Result     []*model.Sample
	}
}

// errForeign is a body that did not come from the query API.
var errForeign = errors.New("not a response of a Prometheus server")

func decode(body []byte) (reply, error) {
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		return r, errForeign
	}
	if r.Status != "success" && r.Status != "error" || r.Status == "success" && r.Data.ResultType != "vector" {
		return r, errForeign
	}
	return r, nil
}

// sorted sorts a reply by target. An instant query stamps its values with the time at which
// it was evaluated: when they were sampled is in the markers. For targets without one the
// stamp has to do.
func (r reply) sorted(x exchange) answer {
	a := answer{samples: map[target][]Sample{}, scraped: map[target]time.Time{}, down: map[target]map[string]string{}, at: x.at, now: x.date}
	stamped, newest, marked := map[target]time.Time{}, time.Time{}, false
	for _, s := range r.Data.Result {
		if s.Histogram != nil { // a native one
			continue
		}
		of := target{string(s.Metric["job"]), string(s.Metric["instance"])}
		stamp := instant(float64(s.Timestamp) / 1000)
		newest = later(newest, stamp)
		switch {
		case s.Metric[scrapedLabel] != "":
			a.scraped[of], marked = later(a.scraped[of], instant(float64(s.Value))), true
			continue
		case s.Metric[upLabel] != "":
			if a.hasUp = true; s.Value == 0 {
				a.down[of] = sample(s).Labels
			}
			continue
		}
		stamped[of] = later(stamped[of], stamp)
		a.samples[of] = append(a.samples[of], sample(s))
	}
	for of := range a.scraped {
		if len(a.samples[of]) == 0 {
			delete(a.scraped, of)
		}
	}
	for of, stamp := range stamped {
		if a.scraped[of].IsZero() {
			a.scraped[of] = stamp
		}
	}
	if marked {
		a.now = newest
	} else if a.now.IsZero() {
		a.now = x.at
	}
	for _, w := range r.Warnings {
		a.notes = append(a.notes, "Prometheus warns: "+plain.Line(w, mostWords))
	}
	return a
}

// sample is a series under the labels that the target itself gave: where they
// collide with those of the scrape, Prometheus has renamed them to exported_….
// Job and instance stay those of the scrape, which distinguish targets.
func sample(s *model.Sample) Sample {
	out := Sample{Name: string(s.Metric[model.MetricNameLabel]), Labels: map[string]string{}, Value: float64(s.Value)}
	for label, value := range s.Metric {
		if label != model.MetricNameLabel {
			out.Labels[string(label)] = string(value)
		}
	}
	for label, value := range s.Metric {
		if own, ok := strings.CutPrefix(string(label), "exported_"); ok && own != "job" && own != "instance" {
			out.Labels[own] = string(value)
		}
	}
	return out
}

// instant is a Unix time in seconds; zero if it is not valid.
func instant(seconds float64) time.Time {
	if !(seconds > 0 && seconds < 1e11) {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000)))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
