package scrape

import (
	"slices"

	"sonde/probe/engine"
)

// Offers are the fields that some version of an engine publishes, on its metrics
// page or on another page. What is not among them no setting of the engine brings.
func Offers(kind string) []engine.Field {
	var out []engine.Field
	add := func(f engine.Field) {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	for _, k := range kinds {
		if k.id != kind {
			continue
		}
		if k.table != nil {
			k.table.offers(add)
		}
		for _, e := range k.extra {
			for _, f := range e.fields {
				add(f)
			}
		}
	}
	slices.Sort(out)
	return out
}

// offers hands on the fields that a table names.
func (t *table) offers(add func(engine.Field)) {
	for f := range t.gauges {
		add(f)
	}
	for f := range t.counters {
		add(f)
	}
	for f := range t.histograms {
		add(f)
	}
	for f := range t.means {
		add(f)
	}
	for f, list := range map[engine.Field]names{engine.FieldKVFill: t.kvFill, engine.FieldHitRateGauge: t.hitRate, engine.FieldKVCapacity: t.config} {
		if len(list) > 0 {
			add(f)
		}
	}
}
