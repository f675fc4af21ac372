package scrape

import (
	"maps"
	"slices"
	"strings"

	"sonde/probe/prom"
)

// mayRepeat tells whether series of a page may repeat each other.
func mayRepeat(page prom.Page) bool {
	return page.MayHaveLabel(pidLabel) || page.MayHaveLabel(priorityLabel) || slices.ContainsFunc(partLabels, page.MayHaveLabel)
}

// onePerRank leaves one series for each rank: series that repeat each other, or
// are parts of another one, must not be added up.
func (b *factBook) onePerRank(samples []prom.Sample) []prom.Sample {
	samples = b.totals(samples)
	out := make([]prom.Sample, 0, len(samples))
	index := make(map[string]int, len(samples))
	for i := range samples {
		s := &samples[i]
		f := b.of(s)
		at, seen := index[f.key]
		if !seen {
			index[f.key] = len(out)
			out = append(out, *s)
			continue
		}
		switch kept := b.of(&out[at]).part; {
		case f.part < kept:
			out[at] = *s
		case f.part == kept: // processes of one rank: the largest value is the newest
			out[at].Value = max(out[at].Value, s.Value)
		}
	}
	return out
}

// totals leaves out the series of single priorities where their total is there.
func (b *factBook) totals(samples []prom.Sample) []prom.Sample {
	single := func(s prom.Sample) bool { return b.of(&s).priority }
	if !slices.ContainsFunc(samples, single) {
		return samples
	}
	total := map[string]bool{}
	for i := range samples {
		if f := b.of(&samples[i]); !f.priority {
			total[f.group] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(samples), func(s prom.Sample) bool {
		return b.of(&s).priority && total[b.of(&s).group]
	})
}

// keyWithout identifies a series by its labels without some of them. An empty
// label is as good as none.
func keyWithout(labels map[string]string, without func(label string) bool) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if labels[name] != "" && !without(name) {
			b.WriteString(name + "\x00" + labels[name] + "\x00")
		}
	}
	return b.String()
}
