package scrape

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strings"

	"sonde/probe/prom"
)

// scraperLabels say who scraped, stored or forwarded a series. They never tell two engines
// apart: the servers of an HA pair, two jobs and two receivers all see the same one.
var scraperLabels = []string{"job", "prometheus", "prometheus_replica", "__replica__", "replica", "receive", "receive_replica", "tenant_id"}

// targetLabels say what was scraped.
var targetLabels = []string{"instance", "pod"}

// sightings are the series of one target as one scraper sees them.
type sightings struct {
	labels map[string]string // of the target and its scraper, alike on all series
	scope  map[string]string // on all series too, but of unknown meaning: cluster="east"
	list   []*prom.Sample
	byName map[string]*prom.Sample // by name and the engine's own labels
}

// oncePerTarget leaves each series of a target once, however many jobs and servers
// scraped it: the newest values, under the labels of the first of them. seen names the
// targets that were seen more than once. ok is false where nobody but the engine has put
// labels on the page.
func oncePerTarget(page prom.Page) (once prom.Page, seen []string, ok bool) {
	if !slices.ContainsFunc(slices.Concat(scraperLabels, targetLabels), page.MayHaveLabel) {
		return page, nil, false
	}
	all := sightingsOn(page)
	if len(all) == 0 {
		return page, nil, false
	}
	var out []prom.Sample
	for len(all) > 0 {
		first := all[0]
		var same, others []*sightings
		for _, g := range all {
			if g == first || first.sameTarget(g) {
				same = append(same, g)
			} else {
				others = append(others, g)
			}
		}
		if len(same) > 1 {
			seen = append(seen, first.described(same))
		}
		out, all = append(out, merged(same)...), others
	}
	return page.With(out), seen, true
}

// sightingsOn sorts a page's series by target and scraper, in a fixed order; none if no
// series has a label of either.
func sightingsOn(page prom.Page) []*sightings {
	by, labelled := map[string]*sightings{}, false
	for _, name := range page.Names() {
		samples := page.Samples(name)
		for i := range samples {
			s := &samples[i]
			labels := only(s.Labels, func(l string) bool { return slices.Contains(scraperLabels, l) || slices.Contains(targetLabels, l) })
			labelled = labelled || len(labels) > 0
			key := keyOf(labels, func(string) bool { return true })
			if by[key] == nil {
				by[key] = &sightings{labels: labels}
			}
			by[key].list = append(by[key].list, s)
		}
	}
	if !labelled {
		return nil
	}
	var out []*sightings
	for _, key := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[key].split()...)
	}
	return out
}

// split parts what one scraper saw by the labels that are on every series without being
// the engine's: those of one value belong to the target, the others are its scope.
func (g *sightings) split() []*sightings {
	values := map[string]map[string]int{}
	for _, s := range g.list {
		for label, value := range s.Labels {
			if values[label] == nil {
				values[label] = map[string]int{}
			}
			values[label][value]++
		}
	}
	scope := map[string]bool{}
	for label, of := range values {
		n := 0
		for _, times := range of {
			n += times
		}
		switch {
		case n < len(g.list) || ownLabel(label):
		case len(of) == 1:
			g.labels[label] = g.list[0].Labels[label]
		default:
			scope[label] = true
		}
	}
	parts := map[string]*sightings{}
	for _, s := range g.list {
		key := keyOf(s.Labels, func(l string) bool { return scope[l] })
		if parts[key] == nil {
			parts[key] = &sightings{labels: g.labels, scope: only(s.Labels, func(l string) bool { return scope[l] }), byName: map[string]*prom.Sample{}}
		}
		p := parts[key]
		p.list = append(p.list, s)
		p.byName[s.Name+"\x00"+keyOf(s.Labels, func(l string) bool { return g.labels[l] == "" && !scope[l] })] = s
	}
	var out []*sightings
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		out = append(out, parts[key])
	}
	return out
}

// ownLabel reports whether an engine's own series carry a label.
func ownLabel(label string) bool {
	return label == "le" || label == pidLabel || label == priorityLabel || slices.Contains(modelLabels, label) ||
		slices.Contains(partLabels, label) || slices.Contains(rankLabels, label) && !slices.Contains(targetLabels, label)
}

func only(labels map[string]string, keep func(label string) bool) map[string]string {
	out := map[string]string{}
	for label, value := range labels {
		if value != "" && keep(label) {
			out[label] = value
		}
	}
	return out
}

// sameTarget reports whether two sightings are of the same process.
func (g *sightings) sameTarget(o *sightings) bool {
	agree := func(label string) bool { // or one of them does not say
		a, b := g.labels[label], o.labels[label]
		return a == b || a == "" || b == ""
	}
	instance, pod := g.labels["instance"], g.labels["pod"]
	port, otherPort := portOf(instance), portOf(o.labels["instance"])
	switch {
	case !agree("pod") || !agree("namespace") || !agree("container"):
		return false
	case instance != "" && instance == o.labels["instance"]:
	case pod != "" && pod == o.labels["pod"] && (port == "" || otherPort == ""): // relabelled to another name
	case instance+pod+o.labels["instance"]+o.labels["pod"] == "":
	default:
		return false
	}
	return g.sameScope(o) || g.sameFigures(o)
}

func portOf(instance string) string {
	_, port, _ := net.SplitHostPort(instance)
	return port
}

// sameScope reports whether no label of unknown meaning speaks against the same target:
// pods of the same name and address exist in two clusters.
func (g *sightings) sameScope(o *sightings) bool {
	place := func(s *sightings) map[string]string {
		all := maps.Clone(s.labels)
		maps.Copy(all, s.scope)
		return all
	}
	a, b := place(g), place(o)
	for label := range a {
		known := slices.Contains(scraperLabels, label) || slices.Contains(targetLabels, label)
		if sameJob := a["job"] == b["job"]; !known && sameJob && b[label] != "" && a[label] != b[label] {
			return false
		}
	}
	return true
}

// sameFigures reports whether two sightings show the same process a scrape apart: its start
// is the same where both know it; else no counter of the one is behind the other's while
// another is ahead, and none by more than a few per cent. Gauges alone must be equal.
func (g *sightings) sameFigures(o *sightings) bool {
	const near, fewest = 0.02, 2
	ahead, behind, counters, equal, gauges := false, false, 0, 0, 0
	for name, s := range g.byName {
		t := o.byName[name]
		switch {
		case t == nil:
		case s.Name == startTime:
			return s.Value == t.Value
		case !isCounter(s.Name):
			if gauges++; s.Value == t.Value && s.Value != 0 {
				equal++
			} else if s.Value != t.Value {
				equal = math.MinInt32
			}
		case math.Abs(s.Value-t.Value) > near*max(s.Value, t.Value):
			return false
		case max(s.Value, t.Value) > 0:
			counters++
			ahead, behind = ahead || s.Value > t.Value, behind || s.Value < t.Value
		}
	}
	if counters >= fewest {
		return !ahead || !behind
	}
	return equal >= fewest
}

func isCounter(name string) bool {
	return slices.ContainsFunc([]string{"_total", "_bucket", "_count", "_sum"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// newerThan compares two sightings of a process by its counters, which only grow.
func (g *sightings) newerThan(o *sightings) int {
	grown := 0.0
	for name, s := range g.byName {
		if t := o.byName[name]; t != nil && isCounter(s.Name) && finite(s.Value-t.Value) {
			grown += s.Value - t.Value
		}
	}
	return cmp.Compare(0, grown)
}

// merged are the series of one target, the newest value of each. The labels of the scraper
// are left out, except the job, which names the scrape.
func merged(same []*sightings) []prom.Sample {
	outer := maps.Clone(same[0].labels)
	for _, g := range same[1:] {
		for label, value := range g.labels {
			if outer[label] == "" {
				outer[label] = value
			}
		}
	}
	maps.DeleteFunc(outer, func(label, _ string) bool { return label != "job" && slices.Contains(scraperLabels, label) })
	if len(same) == 1 {
		maps.Copy(outer, same[0].scope)
	}
	drop := func(label string) bool {
		return slices.Contains(scraperLabels, label) || slices.ContainsFunc(same, func(g *sightings) bool { return g.labels[label] != "" || g.scope[label] != "" })
	}
	order, taken := slices.SortedStableFunc(slices.Values(same), (*sightings).newerThan), map[string]bool{}
	var out []prom.Sample
	for _, g := range order {
		for _, name := range slices.Sorted(maps.Keys(g.byName)) {
			if taken[name] {
				continue
			}
			taken[name] = true
			s := *g.byName[name]
			s.Labels = only(s.Labels, func(label string) bool { return !drop(label) })
			maps.Copy(s.Labels, outer)
			out = append(out, s)
		}
	}
	return out
}

// described says who saw one target more than once.
func (g *sightings) described(same []*sightings) string {
	name := cmp.Or(g.labels["pod"], g.labels["instance"], "the engine")
	for _, label := range append(slices.Clone(scraperLabels), slices.Sorted(maps.Keys(g.scope))...) {
		values := map[string]bool{}
		for _, s := range same {
			values[cmp.Or(s.labels[label], s.scope[label])] = true
		}
		delete(values, "")
		if len(values) > 1 {
			return fmt.Sprintf("%s is scraped %d times (%s %s): counted once", name, len(same), label, strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		}
	}
	return fmt.Sprintf("%s is scraped %d times: counted once", name, len(same))
}
