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

// scraperLabels say who scraped, stored or forwarded a series. They never distinguish two
// engines: the servers of an HA pair, two jobs and two receivers all see the same one.
var scraperLabels = []string{"job", "prometheus", "prometheus_replica", "__replica__", "replica", "receive", "receive_replica", "tenant_id"}

// targetLabels say what was scraped.
var targetLabels = []string{"instance", "pod"}

// outerLabels are both.
var outerLabels = slices.Concat(scraperLabels, targetLabels)

// sighting holds the series of one target as one scraper sees them.
type sighting struct {
	place  map[string]string       // labels of target and scraper, and all others that every series has
	series map[string]*prom.Sample // by name and the engine's own labels
}

// oncePerTarget leaves each series of a target once, however many jobs and servers
// scraped it: the newest values, under the labels of the first of them. seen names the
// targets that were seen more than once. ok is false where only the engine has put labels
// on the page.
func oncePerTarget(page prom.Page) (once prom.Page, seen []string, ok bool) {
	all := sightingsOn(page)
	if len(all) == 0 {
		return page, nil, false
	}
	var out []prom.Sample
	for len(all) > 0 {
		var same, others []*sighting
		for _, g := range all {
			if g == all[0] || all[0].sameTarget(g) {
				same = append(same, g)
			} else {
				others = append(others, g)
			}
		}
		if len(same) > 1 {
			seen = append(seen, describe(same))
		}
		out, all = append(out, merged(same)...), others
	}
	return page.With(out), seen, true
}

// sightingsOn sorts a page's series by target and scraper, in a fixed order; none if no
// series has a label of either.
func sightingsOn(page prom.Page) []*sighting {
	if !slices.ContainsFunc(outerLabels, page.MayHaveLabel) {
		return nil
	}
	groups, labelled := map[string][]*prom.Sample{}, false
	for _, name := range page.Names() {
		samples := page.Samples(name)
		for i := range samples {
			key := keyOf(samples[i].Labels, func(l string) bool { return slices.Contains(outerLabels, l) })
			labelled = labelled || key != ""
			groups[key] = append(groups[key], &samples[i])
		}
	}
	if !labelled {
		return nil
	}
	var out []*sighting
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, split(groups[key])...)
	}
	return out
}

// split divides what one scraper saw of a target by the labels that are on every series
// without being the engine's own, such as cluster="east".
func split(group []*prom.Sample) []*sighting {
	times := map[string]int{}
	for _, s := range group {
		for label, value := range s.Labels {
			if value != "" && !ownLabel(label) {
				times[label]++
			}
		}
	}
	outer := func(label string) bool { return times[label] == len(group) }
	by := map[string]*sighting{}
	for _, s := range group {
		key := keyOf(s.Labels, outer)
		if by[key] == nil {
			by[key] = &sighting{only(s.Labels, outer), map[string]*prom.Sample{}}
		}
		by[key].series[s.Name+"\x00"+keyOf(s.Labels, func(l string) bool { return !outer(l) })] = s
	}
	var out []*sighting
	for _, key := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[key])
	}
	return out
}

// ownLabel reports whether an engine's own series carry a label.
func ownLabel(label string) bool {
	return label == "le" || label == pidLabel || label == priorityLabel || slices.Contains(modelLabels, label) ||
		slices.Contains(partLabels, label) || slices.Contains(rankLabels, label) && !slices.Contains(targetLabels, label)
}

func only(labels map[string]string, keep func(label string) bool) map[string]string {
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(label, value string) bool { return value == "" || !keep(label) })
	return out
}

// sameTarget reports whether two sightings are of the same process.
func (g *sighting) sameTarget(o *sighting) bool {
	for _, label := range []string{"pod", "namespace", "container"} {
		if a, b := g.place[label], o.place[label]; a != b && a != "" && b != "" {
			return false
		}
	}
	instance, other := g.place["instance"], o.place["instance"]
	samePod := g.place["pod"] != "" && g.place["pod"] == o.place["pod"]
	switch {
	case instance != "" && instance == other:
	case samePod && (portOf(instance) == "" || portOf(other) == ""): // relabelled to another name
	case instance+other+g.place["pod"]+o.place["pod"] == "": // nothing names a target
	default:
		return false
	}
	return g.sameScope(o) || g.sameFigures(o)
}

func portOf(instance string) string {
	_, port, _ := net.SplitHostPort(instance)
	return port
}

// sameScope reports whether no label of unknown meaning rules out the same target:
// pods of the same name and address exist in two clusters. Each job has labels of its own.
func (g *sighting) sameScope(o *sighting) bool {
	for label, a := range g.place {
		b := o.place[label]
		if a != b && b != "" && !slices.Contains(outerLabels, label) && g.place["job"] == o.place["job"] {
			return false
		}
	}
	return true
}

// sameFigures reports whether two sightings show the same process a scrape apart: its start
// is the same where both know it; else no counter of the one is behind the other's while
// another is ahead, and none by more than a few per cent. Without counters, gauges must be
// equal.
func (g *sighting) sameFigures(o *sighting) bool {
	const near, fewest = 0.02, 2
	ahead, behind, counters, equal, differ := false, false, 0, 0, false
	for key, s := range g.series {
		t := o.series[key]
		switch {
		case t == nil:
		case s.Name == startTime:
			return s.Value == t.Value
		case !isCounter(s.Name):
			differ = differ || s.Value != t.Value
			if s.Value == t.Value && s.Value != 0 {
				equal++
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
	return equal >= fewest && !differ
}

func isCounter(name string) bool {
	return slices.ContainsFunc([]string{"_total", "_bucket", "_count", "_sum"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// newest compares two sightings of a process by its counters, which only grow; the newer one
// goes first.
func newest(g, o *sighting) int {
	grown := 0.0
	for key, s := range g.series {
		if t := o.series[key]; t != nil && isCounter(s.Name) && finite(s.Value-t.Value) {
			grown += s.Value - t.Value
		}
	}
	return cmp.Compare(0, grown)
}

// merged returns the series of one target, the newest value of each. The labels of the
// scraper are left out, except the job, which names the scrape; and so are those of unknown
// meaning that differ.
func merged(same []*sighting) []prom.Sample {
	outer, drop := map[string]string{}, map[string]bool{}
	for _, g := range same {
		for label, value := range g.place {
			switch known, has := outer[label]; {
			case !has:
				outer[label] = value
			case known != value && !slices.Contains(outerLabels, label):
				drop[label] = true
			}
		}
	}
	places := maps.Clone(outer)
	maps.DeleteFunc(outer, func(label, _ string) bool {
		return drop[label] || label != "job" && slices.Contains(scraperLabels, label)
	})
	taken := map[string]bool{}
	var out []prom.Sample
	for _, g := range slices.SortedStableFunc(slices.Values(same), newest) {
		for _, key := range slices.Sorted(maps.Keys(g.series)) {
			if taken[key] {
				continue
			}
			taken[key] = true
			s := *g.series[key]
			s.Labels = only(s.Labels, func(label string) bool { return places[label] == "" })
			maps.Copy(s.Labels, outer)
			out = append(out, s)
		}
	}
	return out
}

// describe says who saw one target more than once.
func describe(same []*sighting) string {
	place := same[0].place
	says := fmt.Sprintf("%s is scraped %d times", cmp.Or(place["pod"], place["instance"], "the engine"), len(same))
	for _, label := range slices.Concat(scraperLabels, slices.Sorted(maps.Keys(place))) {
		values := map[string]bool{}
		for _, g := range same {
			values[g.place[label]] = true
		}
		if delete(values, ""); len(values) > 1 {
			return fmt.Sprintf("%s (%s %s): counted once", says, label, strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		}
	}
	return says + ": counted once"
}
