package scrape

import (
	"regexp"
	"slices"
	"strings"

	"sonde/probe/engine"
	"sonde/probe/prom"
)

// fleetKinds are the engines whose series a Prometheus server is asked for: the one
// that answers, or every one that has names of its own, where that is not known or
// is a gateway, whose engines Prometheus may know better.
func fleetKinds(id engine.Identity) []*kind {
	k := kindByID(id.Kind)
	switch {
	case k == &simKind:
		return []*kind{&vllmKind} // whose names it publishes
	case isFleetKind(k):
		return []*kind{k}
	}
	var all []*kind
	for _, k := range kinds {
		if isFleetKind(k) {
			all = append(all, k)
		}
	}
	return all
}

func isFleetKind(k *kind) bool {
	return k.table != nil && !k.table.router && !k.table.companion && k.noPage == "" && !slices.Contains(k.table.prefixes, "")
}

// fleetQuery asks for the series of some engines.
func fleetQuery(of []*kind, selector string) prom.Query {
	q := prom.Query{Selector: selector}
	var what, patterns []string
	for _, k := range of {
		what = append(what, k.table.prefixes[0]+"…")
		for _, prefix := range k.prefixes {
			patterns = append(patterns, regexp.QuoteMeta(prefix)+".*")
		}
		for _, e := range k.table.gauges[engine.FieldRunning].parsed() {
			q.Markers = append(q.Markers, k.table.prefixes[0]+e.terms[0].name)
		}
	}
	q.What, q.Names = strings.Join(what, ", "), strings.Join(patterns, "|")
	return q
}
