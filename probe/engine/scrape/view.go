package scrape

import (
	"maps"
	"slices"
	"strings"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/prom"
)

// view is a page as one table and one model see it.
type view struct {
	page  prom.Page
	table *kinds.Table
	// only is the model to look at, "" for all: a page with one model is read
	// whatever the model is called there.
	only    string
	several bool // the page carries more models than that
	// part is the replica or rank to look at, as facts identify it; "" for all.
	part string

	facts     *factBook
	mayRepeat bool // the page has labels of series that repeat each other
}

// picked is the way to read a field that the page has.
type picked struct {
	kinds.Way
	prefix string
}

// pick returns the first way of a list that the page has with a number. Of a sum the first
// term must be there, of a product or quotient all. suffix is what the page appends.
func (v view) pick(list kinds.Ways, suffix string) (picked, bool) {
	for _, w := range list {
		for _, prefix := range v.table.Prefixes {
			p := picked{w, prefix}
			need := w.Metrics
			if w.Op == kinds.Sum {
				need = w.Metrics[:1]
			}
			if !slices.ContainsFunc(need, func(t kinds.Metric) bool { return !slices.ContainsFunc(v.found(p, t, suffix), known) }) {
				return p, true
			}
		}
	}
	return picked{}, false
}

func known(s prom.Sample) bool { return finite(s.Value) }

// source writes for people what a field is read from: of a sum only what is there.
func (v view) source(p picked) string {
	var parts []string
	for _, t := range p.Metrics {
		if p.Op != kinds.Sum || len(v.found(p, t, "")) > 0 {
			parts = append(parts, p.prefix+t.String())
		}
	}
	return strings.Join(parts, " "+string(p.Op)+" ")
}

// series returns the series of a term, one per rank.
func (v view) series(p picked, t kinds.Metric, suffix string) []prom.Sample {
	found := v.found(p, t, suffix)
	if v.mayRepeat {
		return v.facts.onePerRank(found)
	}
	return found
}

// found returns the series of a term, of the chosen model and replica.
func (v view) found(p picked, t kinds.Metric, suffix string) []prom.Sample {
	found := v.chosen(v.samples(p.prefix+t.Name, suffix))
	if len(t.Where) > 0 {
		found = slices.DeleteFunc(slices.Clone(found), func(s prom.Sample) bool { return !t.Accepts(s.Labels) })
	}
	return found
}

// samples returns those of a name; of a counter that the page has without its _total, or with
// one that its table has not, those: formats and collectors add and drop that ending.
func (v view) samples(name, suffix string) []prom.Sample {
	found := v.page.Samples(name + suffix)
	if len(found) > 0 || suffix != "" {
		return found
	}
	if base, has := strings.CutSuffix(name, totalSuffix); has {
		return v.page.Samples(base)
	}
	return v.page.Samples(name + totalSuffix)
}

const totalSuffix = "_total"

// chosen skips the series of other models and replicas.
func (v view) chosen(samples []prom.Sample) []prom.Sample {
	if v.only == "" && v.part == "" {
		return samples
	}
	var out []prom.Sample
	for i := range samples {
		f := v.facts.of(&samples[i])
		if (v.only == "" || f.model == "" || strings.EqualFold(f.model, v.only)) && f.within(v.part) {
			out = append(out, samples[i])
		}
	}
	return out
}

// rankValue is what one rank says.
type rankValue struct {
	key   string // identifies the series
	value float64
	facts *facts // of its series
}

// perRank reads a field for every rank.
func (v view) perRank(f engine.Field) (picked, []rankValue) {
	p, ok := v.pick(v.table.Fields[f], "")
	switch {
	case !ok:
		return p, nil
	case p.Op == kinds.Product || p.Op == kinds.Quotient:
		return p, combine(v.values(p, p.Metrics[0]), v.values(p, p.Metrics[1]), p.Op)
	}
	var all []rankValue
	for _, t := range p.Metrics {
		for _, r := range v.values(p, t) {
			if len(p.Metrics) > 1 {
				r.key = t.Name + "\x00" + r.key
			}
			all = append(all, r)
		}
	}
	return p, all
}

// values are a term's finite values, in seconds if they are times.
func (v view) values(p picked, t kinds.Metric) []rankValue {
	series := v.series(p, t, "")
	out := make([]rankValue, 0, len(series))
	for i := range series {
		s := &series[i]
		if !finite(s.Value) {
			continue
		}
		f := v.facts.of(s)
		key := f.key
		if len(p.Metrics) > 1 && p.Op != kinds.Sum && len(t.Where) > 0 {
			key = keyOf(s.Labels, func(label string) bool { return identifies(label) && !t.Selects(label) }) // to belong to a series that was selected otherwise
		}
		out = append(out, rankValue{key, s.Value * t.Scale(), f})
	}
	return out
}

// partlyUnknown reports whether some value that a field is made of is no number.
func (v view) partlyUnknown(p picked) bool {
	return slices.ContainsFunc(p.Metrics, func(t kinds.Metric) bool {
		return slices.ContainsFunc(v.series(p, t, ""), func(s prom.Sample) bool { return !finite(s.Value) })
	})
}

// combine multiplies or divides rank by rank. Where each side has one value, they
// belong together whatever their labels are.
func combine(a, b []rankValue, op kinds.Op) []rankValue {
	var out []rankValue
	for _, x := range a {
		i := slices.IndexFunc(b, func(y rankValue) bool { return y.key == x.key })
		if len(a) == 1 && len(b) == 1 {
			i = 0
		}
		if i < 0 || op == kinds.Quotient && b[i].value <= 0 {
			continue
		}
		if op == kinds.Quotient {
			x.value /= b[i].value
		} else {
			x.value *= b[i].value
		}
		if finite(x.value) {
			out = append(out, x)
		}
	}
	return out
}

// rankOf names the rank of a series; "" if no label distinguishes it.
func rankOf(labels map[string]string) string {
	var parts []string
	for _, label := range rankLabels {
		if r := labels[label]; r != "" {
			parts = append(parts, r)
		}
	}
	return strings.Join(parts, "/")
}

// modelOf names the model of a series. Some engines write that they have no name.
func modelOf(labels map[string]string) string {
	for _, label := range modelLabels {
		if m := labels[label]; m != "" && m != "undefined" {
			return m
		}
	}
	return ""
}

// models returns the models that a page tells apart, sorted. Spellings that differ
// in case are one model: Dynamo has both on one page.
func models(page prom.Page, t *kinds.Table, book *factBook) []string {
	seen, last := map[string]string{}, ""
	for _, name := range modelMetrics(page, t) {
		samples := page.Samples(name)
		for i := range samples {
			m := book.of(&samples[i]).model
			if m == last {
				continue
			}
			last = m
			fold := strings.ToLower(m)
			if known := seen[fold]; m != "" && (known == "" || m < known) {
				seen[fold] = m // upper case sorts first: the spelling that people chose
			}
		}
	}
	return slices.Sorted(maps.Values(seen))
}

// modelMetrics are the names on the page whose model labels count.
func modelMetrics(page prom.Page, t *kinds.Table) []string {
	if t == nil || t.ModelFrom == nil {
		// Buckets carry the labels of their sums.
		return slices.DeleteFunc(page.Names(), func(name string) bool { return strings.HasSuffix(name, "_bucket") })
	}
	var out []string
	for _, w := range t.ModelFrom {
		for _, prefix := range t.Prefixes {
			out = append(out, prefix+w.Metrics[0].Name)
		}
	}
	return out
}
