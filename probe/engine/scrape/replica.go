package scrape

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/opt"
)

// part is a replica with what the next reading needs.
type part struct {
	engine.Replica
	key    string // as facts identify it
	labels map[string]string
	tokens counters // generated, by series; none where they would say nothing
	fills  int      // ranks that reported how full their cache is
	seen   map[string]bool
}

// placeMark ends a replica's key where that of a rank goes on.
const placeMark = "\x01"

// within reports whether a series is of a replica or rank; "" is every one.
func (f *facts) within(part string) bool {
	return part == "" || f.replica == part || f.place == part
}

// divide makes the parts of a page, from the first table that distinguishes some.
func (s *snapshot) divide(v view, fits []*kinds.Kind, of subject) {
	for _, k := range fits {
		if v.table = k.Table; k.Table.Companion {
			continue
		}
		if s.parts = v.parts(s.At, of); len(s.parts) > 0 {
			return
		}
	}
}

// parts reads the few figures of every replica that show which one to look at. They
// are taken from one pass over their series, whatever the number of replicas.
func (v view) parts(at time.Time, of subject) []part {
	_, running := v.perRank(engine.FieldRunning)
	_, waiting := v.perRank(engine.FieldWaiting)
	var fills []rankValue
	if !v.table.MeanFill {
		_, fills = v.perRank(engine.FieldKVFill)
	}
	parts := map[string]*part{}
	ranked := byRank(slices.Concat(running, waiting, fills), of)
	each := func(ranks []rankValue, add func(*part, rankValue)) {
		for _, r := range ranks {
			key := r.facts.replica
			if ranked {
				key = r.facts.place
			}
			if parts[key] == nil {
				parts[key] = &part{key: key, labels: r.facts.labels, tokens: counters{}, seen: map[string]bool{}}
			}
			parts[key].seen[r.facts.place] = true
			add(parts[key], r)
		}
	}
	each(running, func(p *part, r rankValue) { p.Running = opt.Of(p.Running.Or(0) + r.value) })
	each(waiting, func(p *part, r rankValue) { p.Waiting = opt.Of(p.Waiting.Or(0) + r.value) })
	each(fills, func(p *part, r rankValue) {
		if r.value >= 0 && r.value <= 1 {
			p.fills++
			p.KVFill = opt.Of(p.KVFill.Or(0) + (r.value-p.KVFill.Or(0))/float64(p.fills))
		}
	})
	each(v.generated(), func(p *part, r rankValue) { p.tokens[r.key] = r.value })
	return named(parts, ranked, at, of)
}

// generated reads the tokens of every rank, if they are counted at every step.
func (v view) generated() []rankValue {
	if v.table.Digits > 0 {
		return nil
	}
	_, tokens := v.perRank(engine.FieldLiveDecode)
	if len(tokens) == 0 && !v.table.OnFinish {
		_, tokens = v.perRank(engine.FieldGenerationTokens)
	}
	return tokens
}

// byRank reports whether what can be told apart are ranks of one replica. What has
// been chosen stays of its kind, also when it is the last one.
func byRank(all []rankValue, of subject) bool {
	if key := of.keys[of.replica]; key != "" {
		return strings.Contains(key, placeMark)
	}
	replicas, places := map[string]bool{}, map[string]bool{}
	for _, r := range all {
		replicas[r.facts.replica], places[r.facts.place] = true, true
	}
	return len(replicas) == 1 && (len(places) > 1 || replicas[""])
}

// named gives the parts their names and sorts them.
func named(parts map[string]*part, ranked bool, at time.Time, of subject) []part {
	names := namesOf(parts, ranked)
	out := make([]part, 0, len(parts))
	for key, p := range parts {
		if names[key] == "" {
			continue // no label says whose these are
		}
		p.Name, p.Ranks, p.At = names[key], len(p.seen), at
		if of.scraped != nil {
			if t := of.scraped(p.labels); !t.IsZero() {
				p.At = t
			}
		}
		p.OfServer = ranked
		p.Pod, p.Instance, p.Hosts = p.labels["pod"], p.labels["instance"], hostsOf(p.labels)
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b part) int { return cmp.Or(compareNatural(a.Name, b.Name), cmp.Compare(a.key, b.key)) })
	return out
}

// partRates fills in how fast each replica generates. A replica that began anew, or
// was not there, has no rate yet.
func (s *snapshot) partRates(prev *snapshot) {
	if prev.model != s.model {
		return
	}
	before := map[string]*part{}
	for i := range prev.parts {
		before[prev.parts[i].key] = &prev.parts[i]
	}
	for i := range s.parts {
		now := &s.parts[i]
		if last := before[now.key]; last != nil && now.At.After(last.At) {
			now.GenerationTokensPerS = now.tokens.since(last.tokens).Scale(1 / now.At.Sub(last.At).Seconds())
		}
	}
}

// replicas are the parts as a Status carries them.
func (s *snapshot) replicas() []engine.Replica {
	var out []engine.Replica
	for _, p := range s.parts {
		out = append(out, p.Replica)
	}
	return out
}

// regroup marks a reading that is merged of other replicas or ranks than the one
// before. What one counted before it joined must not pass for an increase, nor its
// leaving for a restart.
func (s *snapshot) regroup(prev *snapshot) {
	if prev == nil || prev.model != s.model || prev.Replica != s.Replica {
		return
	}
	before, now := prev.places(), s.places()
	s.noteChange("joined", without(now, before))
	s.noteChange("left", without(before, now))
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

// noteChange notes who has joined or left.
func (s *snapshot) noteChange(what string, names []string) {
	if len(names) == 0 {
		return
	}
	s.Regrouped = true
	s.Note(firstFew(names, 3) + " has " + what + ": counters start over")
}
