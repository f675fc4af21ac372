package scrape

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// regroup marks a reading that is merged of other replicas or ranks than the one
// before. What one counted before it joined must not pass for an increase, nor its
// leaving for a restart.
func (s *snapshot) regroup(prev *snapshot) {
	if prev == nil || prev.model != s.model || prev.Replica != s.Replica {
		return
	}
	before, now := prev.places(), s.places()
	s.told("joined", without(now, before))
	s.told("left", without(before, now))
}

// places are the ranks that a snapshot is merged of, with their replicas' names.
func (s *snapshot) places() map[string]string {
	out := map[string]string{}
	for _, p := range s.parts {
		if s.Replica == "" || s.Replica == p.Name {
			for place := range p.seen {
				out[place] = p.Name
			}
		}
	}
	return out
}

// without are the names of the places that are not among others, each once.
func without(places, others map[string]string) []string {
	names := map[string]bool{}
	for place, name := range places {
		if _, both := others[place]; !both {
			names[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(names), compareNatural)
}

// told notes who has joined or left.
func (s *snapshot) told(what string, names []string) {
	const most = 3
	if len(names) == 0 {
		return
	}
	s.Regrouped = true
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	s.note(text + " has " + what + ": counters begin anew")
}
