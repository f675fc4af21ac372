package gpu

import (
	"slices"
	"strings"
)

// withGone adds the GPUs that were there before and are not listed any more: one
// that vanished without a word is what an operator has to see. Parts of a GPU come
// and go when it is split anew, and a name that rests on a number (host/0) may be
// replaced by the GPU's own: those are dropped.
func withGone(before, now []Reading) []Reading {
	listed := make(map[string]bool, len(now))
	for i := range now {
		listed[now[i].ID] = true
	}
	for _, r := range before {
		if r.Parent != "" || r.ID == "" || strings.Contains(r.ID, "/") || listed[r.ID] {
			continue
		}
		// Clipped: what was published before may share what lies behind the list.
		now = append(slices.Clip(now), Reading{
			ID: r.ID, Index: r.Index, Name: r.Name, Source: r.Source, Lost: true, Note: "GPU lost: no longer listed",
		})
	}
	return now
}
