package prom

import (
	"fmt"
	"strings"
)

// Query says which series are wanted.
type Query struct {
	What     string // for messages: "vllm:…"
	Names    string // regular expression over the names
	Selector string // further matchers: job="x",namespace="y"; "" is none
	// Markers are names of which every target has at least one. When their samples
	// were taken is when the target was scraped.
	Markers []string
}

// markerLabel sets the times of scrapes apart from the series proper.
const markerLabel = "sonde_scraped"

// String is the query in PromQL: the series and, for each target, the time of its
// last scrape, in one answer so that they belong together. The function timestamp
// drops names, so that it cannot be asked for all series at once.
func (q Query) String() string {
	matchers := []string{fmt.Sprintf("__name__=~%q", q.Names)}
	if q.Selector != "" {
		matchers = append(matchers, q.Selector)
	}
	series := "{" + strings.Join(matchers, ",") + "}"
	if len(q.Markers) == 0 {
		return series
	}
	var times []string
	for _, name := range q.Markers {
		times = append(times, fmt.Sprintf("timestamp(%s{%s})", name, q.Selector))
	}
	return fmt.Sprintf(`%s or label_replace(max by (job, instance) (%s), %q, "yes", "", "")`,
		series, strings.Join(times, " or "), markerLabel)
}

// described is the query as a message names it.
func (q Query) described() string {
	if q.Selector == "" {
		return q.What
	}
	return q.What + " with " + clean(q.Selector)
}
