package engine

import (
	"maps"
	"slices"
	"strings"

	"sonde/probe/promtext"
)

// view is a page as one table and one model see it.
type view struct {
	page  promtext.Page
	table *table
	// only is the model to look at, "" for all: a page with one model is read
	// whatever the model is called there.
	only string
}

// samples returns the series of the first name that the page has, of the chosen
// model, one per rank.
func (v view) samples(list names) []promtext.Sample {
	return v.exactly(v.first(list, ""))
}

// first returns the full name of the first metric that the page has with that
// suffix, itself without it; "" if there is none.
func (v view) first(list names, suffix string) string {
	for _, name := range list {
		for _, prefix := range v.table.prefixes {
			if len(v.page.Samples(prefix+name+suffix)) > 0 {
				return prefix + name
			}
		}
	}
	return ""
}

// exactly returns the series of a full name, of the chosen model, one per rank.
func (v view) exactly(name string) []promtext.Sample {
	return onePerRank(v.chosen(v.page.Samples(name)))
}

// chosen leaves out the series of other models.
func (v view) chosen(samples []promtext.Sample) []promtext.Sample {
	if v.only == "" {
		return samples
	}
	var out []promtext.Sample
	for _, s := range samples {
		if m := modelOf(s); m == "" || strings.EqualFold(m, v.only) {
			out = append(out, s)
		}
	}
	return out
}

// onePerRank merges the processes of a rank, which repeat each other with delays:
// the largest value is the newest.
func onePerRank(samples []promtext.Sample) []promtext.Sample {
	var out []promtext.Sample
	index := map[string]int{}
	for _, s := range samples {
		if _, has := s.Labels[pidLabel]; !has {
			out = append(out, s)
			continue
		}
		key := seriesKey(s.Labels, pidLabel)
		if i, seen := index[key]; seen {
			out[i].Value = max(out[i].Value, s.Value)
			continue
		}
		index[key] = len(out)
		out = append(out, s)
	}
	return out
}

// seriesKey identifies a series among those of its name, without one label.
func seriesKey(labels map[string]string, without string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if name != without {
			b.WriteString(name + "\x00" + labels[name] + "\x00")
		}
	}
	return b.String()
}

func modelOf(s promtext.Sample) string {
	for _, label := range modelLabels {
		if m := s.Labels[label]; m != "" {
			return m
		}
	}
	return ""
}

// models returns the models that a page tells apart, sorted.
func models(page promtext.Page) []string {
	seen := map[string]bool{}
	for _, name := range page.Names() {
		for _, s := range page.Samples(name) {
			if m := modelOf(s); m != "" {
				seen[m] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
