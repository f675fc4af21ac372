package engine

import "slices"

// Offers are the fields that some version of an engine publishes, on its metrics
// page or on another page. What is not among them no setting of the engine brings.
func Offers(kind string) []Field {
	var out []Field
	add := func(f Field) {
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
func (t *table) offers(add func(Field)) {
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
	for f, list := range map[Field]names{FieldKVFill: t.kvFill, FieldHitRateGauge: t.hitRate, FieldKVCapacity: t.config} {
		if len(list) > 0 {
			add(f)
		}
	}
}

// Known tells whether a reading holds a field.
func (r *Reading) Known(f Field) bool {
	if to := r.figure(f); to != nil {
		return to.OK
	}
	to := r.distribution(f)
	return to != nil && len(to.Bounds) > 0
}
