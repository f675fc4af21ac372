package scrape

import (
	"maps"
	"math"
	"slices"
	"strings"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/prom"
)

// view is a page as one table reads it: the series of one model, and of one replica where
// one was chosen, one for each rank.
type view struct {
	page    prom.Page
	table   *kinds.Table
	several bool // the page carried further models
	facts   *factBook
	columns map[engine.Field]column // that were read already
}

// viewOf leaves the series of a page that keep accepts, one for each rank.
func (b *factBook) viewOf(page prom.Page, keep func(*facts) bool) view {
	repeats := slices.ContainsFunc(repeatLabels, page.MayHaveLabel)
	if keep != nil || repeats {
		page = page.Map(func(samples []prom.Sample) []prom.Sample {
			if keep != nil {
				samples = slices.DeleteFunc(slices.Clone(samples), func(s prom.Sample) bool { return !keep(b.of(&s)) })
			}
			if repeats {
				samples = b.onePerRank(samples)
			}
			return samples
		})
	}
	return view{page: page, facts: b}
}

// by is the view through a table.
func (v view) by(t *kinds.Table) view {
	v.table, v.columns = t, map[engine.Field]column{}
	return v
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
			if !slices.ContainsFunc(need, func(t kinds.Metric) bool { return !slices.ContainsFunc(v.series(p, t, suffix), isNumber) }) {
				return p, true
			}
		}
	}
	return picked{}, false
}

func isNumber(s prom.Sample) bool { return finite(s.Value) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// source writes for people what a field is read from: of a sum only what is there.
func (v view) source(p picked) string {
	var parts []string
	for _, t := range p.Metrics {
		if p.Op != kinds.Sum || len(v.series(p, t, "")) > 0 {
			parts = append(parts, p.prefix+t.String())
		}
	}
	return strings.Join(parts, " "+string(p.Op)+" ")
}

const totalSuffix = "_total"

// series returns the series of a term. Formats and collectors add and drop the ending
// _total of counters: where the page lacks the name of the table, the other one counts.
func (v view) series(p picked, t kinds.Metric, suffix string) []prom.Sample {
	name := p.prefix + t.Name
	found := v.page.Samples(name + suffix)
	if len(found) == 0 && suffix == "" {
		if base, has := strings.CutSuffix(name, totalSuffix); has {
			found = v.page.Samples(base)
		} else {
			found = v.page.Samples(name + totalSuffix)
		}
	}
	if len(t.Where) > 0 {
		found = slices.DeleteFunc(slices.Clone(found), func(s prom.Sample) bool { return !t.Accepts(s.Labels) })
	}
	return found
}

// column is a field of a page, rank by rank.
type column struct {
	picked
	ranks   []rankValue
	partial bool // some rank's value is not a number
}

// rankValue is what one rank reports.
type rankValue struct {
	*facts
	key   string // identifies the series
	value float64
}

// column reads a field for every rank.
func (v view) column(f engine.Field) column {
	c, known := v.columns[f]
	if known {
		return c
	}
	if p, ok := v.pick(v.table.Fields[f], ""); ok {
		c.picked = p
		var terms [][]rankValue
		for _, t := range p.Metrics {
			ranks, partial := v.values(p, t)
			terms, c.partial = append(terms, ranks), c.partial || partial
		}
		if p.Op == kinds.Product || p.Op == kinds.Quotient {
			c.ranks = combine(terms[0], terms[1], p.Op)
		} else {
			c.ranks = slices.Concat(terms...)
		}
	}
	v.columns[f] = c
	return c
}

// values returns the finite values of a term, in seconds if they are times. partial reports
// that there are others.
func (v view) values(p picked, t kinds.Metric) (out []rankValue, partial bool) {
	series := v.series(p, t, "")
	out = make([]rankValue, 0, len(series))
	for i := range series {
		s := &series[i]
		if !finite(s.Value) {
			partial = true
			continue
		}
		f := v.facts.of(s)
		key := f.key
		switch {
		case p.Op == kinds.Sum:
			key = t.Name + "\x00" + key
		case p.Op != kinds.Single && len(t.Where) > 0: // to match a series that was selected by other labels
			key = keyOf(s.Labels, func(label string) bool { return identifies(label) && !t.Selects(label) })
		}
		out = append(out, rankValue{f, key, s.Value * t.Scale()})
	}
	return out, partial
}

// combine multiplies or divides rank by rank. Where each side has one value, they belong
// together whatever their labels are.
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

// models returns the models on a page, sorted. Spellings that differ in case are one model:
// Dynamo has both on one page.
func models(page prom.Page, t *kinds.Table, book *factBook) []string {
	names := page.Names()
	if t.ModelFrom != nil {
		names = t.NamesOf(t.ModelFrom)
	}
	seen, last := map[string]string{}, ""
	for _, name := range names {
		if strings.HasSuffix(name, "_bucket") {
			continue // has the labels of its sum
		}
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
