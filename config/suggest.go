package config

import (
	"fmt"
	"slices"
	"strings"
)

// didYouMean is ": did you mean 'x'?" if one of the known names is near, else "".
func didYouMean(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf(": did you mean '%s'?", near)
	}
	return ""
}

// nearest is the known name that a slip of the fingers may have turned into name,
// "" if none is near enough.
func nearest(name string, known []string) string {
	plain := func(s string) []rune { return []rune(strings.ReplaceAll(strings.ToLower(s), "_", "-")) }
	best, least := "", max(1, min(3, len(name)/3))+1
	for _, k := range known {
		if d := editDistance(plain(name), plain(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours
// (the restricted Damerau-Levenshtein distance).
func editDistance(a, b []rune) int {
	var before, above []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && slices.Equal(a[i-1:i+1], []rune{b[j], b[j-1]}) {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
