package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"sonde/probe/promtext"
)

// mayRepeat tells whether series of a page may repeat each other.
func mayRepeat(page promtext.Page) bool {
	return page.MayHaveLabel(pidLabel) || page.MayHaveLabel(priorityLabel) || slices.ContainsFunc(partLabels, page.MayHaveLabel)
}

// onePerRank leaves one series for each rank: series that repeat each other, or
// are parts of another one, must not be added up.
func onePerRank(samples []promtext.Sample) []promtext.Sample {
	if !slices.ContainsFunc(samples, func(s promtext.Sample) bool { return repeats(s.Labels) }) {
		return samples
	}
	samples = totals(samples)
	var out []promtext.Sample
	index := map[string]int{}
	for _, s := range samples {
		key := keyWithout(s.Labels, func(label string) bool { return label == pidLabel || slices.Contains(partLabels, label) })
		i, seen := index[key]
		if !seen {
			index[key] = len(out)
			out = append(out, s)
			continue
		}
		switch order := compareParts(s.Labels, out[i].Labels); {
		case order < 0:
			out[i] = s
		case order == 0: // processes of one rank: the largest value is the newest
			out[i].Value = max(out[i].Value, s.Value)
		}
	}
	return out
}

// repeats tells whether a series may repeat another one.
func repeats(labels map[string]string) bool {
	for label := range labels {
		if label == pidLabel || label == priorityLabel || slices.Contains(partLabels, label) {
			return true
		}
	}
	return false
}

// totals leaves out the series of single priorities where their total is there.
func totals(samples []promtext.Sample) []promtext.Sample {
	isPriority := func(label string) bool { return label == priorityLabel }
	total := map[string]bool{}
	for _, s := range samples {
		if s.Labels[priorityLabel] == "" {
			total[keyWithout(s.Labels, isPriority)] = true
		}
	}
	var out []promtext.Sample
	for _, s := range samples {
		if s.Labels[priorityLabel] == "" || !total[keyWithout(s.Labels, isPriority)] {
			out = append(out, s)
		}
	}
	return out
}

// compareParts orders two series of a rank by the part that they come from.
func compareParts(a, b map[string]string) int {
	for _, label := range partLabels {
		x, errX := strconv.Atoi(a[label])
		y, errY := strconv.Atoi(b[label])
		switch {
		case errX == nil && errY == nil && x != y:
			return x - y
		case a[label] != b[label]:
			return strings.Compare(a[label], b[label])
		}
	}
	return 0
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
