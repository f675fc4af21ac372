package scrape

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
	"sonde/probe/plain"
)

// subject is what of a page is read.
type subject struct {
	model   string
	replica string // name or a label's value; "" = all
	// keys remember which replica a name was first given to: as others come and go, another
	// label may be needed to distinguish them, and names change.
	keys    map[string]string
	scraped func(labels map[string]string) time.Time // nil: all series are as old as the page
}

// part is a replica with what the next reading needs.
type part struct {
	engine.Replica
	key    string // as facts identify it
	labels map[string]string
	tokens counters // generated, by series; none where they would say nothing
	fills  int      // ranks that reported how full their cache is
	seen   map[string]bool
}

// parts reads the few figures of every replica that show which one to look at.
func (v view) parts(at time.Time, of subject) []part {
	running, waiting := v.column(engine.FieldRunning).ranks, v.column(engine.FieldWaiting).ranks
	var fills []rankValue
	if !v.table.MeanFill {
		fills = v.column(engine.FieldKVFill).ranks
	}
	parts := map[string]*part{}
	ranked := byRank(slices.Concat(running, waiting, fills), of)
	each := func(ranks []rankValue, add func(*part, rankValue)) {
		for _, r := range ranks {
			key := r.replica
			if ranked {
				key = r.place
			}
			if parts[key] == nil {
				parts[key] = &part{key: key, labels: r.labels, tokens: counters{}, seen: map[string]bool{}}
			}
			parts[key].seen[r.place] = true
			add(parts[key], r)
		}
	}
	each(running, func(p *part, r rankValue) { p.Running = opt.Of(p.Running.Or(0) + r.value) })
	each(waiting, func(p *part, r rankValue) { p.Waiting = opt.Of(p.Waiting.Or(0) + r.value) })
	each(fills, func(p *part, r rankValue) {
		if isFraction(r.value) {
			p.fills++
			p.KVFill = opt.Of(p.KVFill.Or(0) + (r.value-p.KVFill.Or(0))/float64(p.fills))
		}
	})
	each(v.generated(), func(p *part, r rankValue) { p.tokens[r.key] = r.value })
	return named(parts, ranked, at, of)
}

// generated returns the tokens of every rank, if they are counted at every step.
func (v view) generated() []rankValue {
	if v.table.Digits > 0 {
		return nil
	}
	tokens := v.column(engine.FieldLiveDecode).ranks
	if len(tokens) == 0 && !v.table.OnFinish {
		tokens = v.column(engine.FieldGenerationTokens).ranks
	}
	return tokens
}

// byRank reports whether the labels distinguish ranks of one replica, not replicas. A chosen
// rank stays a rank, and a replica a replica, even when it is the last one.
func byRank(all []rankValue, of subject) bool {
	if key := of.keys[of.replica]; key != "" {
		return strings.Contains(key, placeMark)
	}
	replicas, places := map[string]bool{}, map[string]bool{}
	for _, r := range all {
		replicas[r.replica], places[r.place] = true, true
	}
	return len(replicas) == 1 && (len(places) > 1 || replicas[""])
}

// named names the parts and sorts them.
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

// nameLabels are the labels that people know replicas by, the best first.
var nameLabels = []string{"pod", "instance", "ReplicaId", "NodeAddress", "server", "worker_addr"}

// hostLabels may hold the name of a replica's machine.
var hostLabels = []string{"node", "kubernetes_node", "nodename", "host", "hostname", "Hostname", "NodeAddress"}

// namesOf names parts by the first label that distinguishes them all, else by all labels
// that differ. A single part is named by the first label that it has.
func namesOf(parts map[string]*part, ranked bool) map[string]string {
	labels, word := nameLabels, ""
	if ranked {
		labels, word = innerLabels, "rank "
	}
	var differ []string
	for _, label := range labels {
		names, distinct, values := namesBy(parts, word, label)
		if distinct {
			return names
		}
		if values > 1 {
			differ = append(differ, label)
		}
	}
	names, _, _ := namesBy(parts, word, differ...)
	return names
}

// namesBy names parts by some labels. It reports whether all the names differ, and how many
// different ones there are.
func namesBy(parts map[string]*part, word string, labels ...string) (names map[string]string, distinct bool, values int) {
	names, taken := map[string]string{}, map[string]bool{}
	distinct = true
	for key, p := range parts {
		var words []string
		for _, label := range labels {
			if v := p.labels[label]; v != "" {
				words = append(words, v)
			}
		}
		name := strings.Join(words, "/")
		if taken[name] || name == "" && key != "" && key != placeMark {
			distinct = false
		}
		if taken[name] = true; name != "" {
			names[key] = word + name
		}
	}
	return names, distinct, len(taken)
}

// hostsOf lists what the machine of a series may be called.
func hostsOf(labels map[string]string) []string {
	var out []string
	for _, label := range hostLabels {
		out = append(out, labels[label])
	}
	host, _, _ := net.SplitHostPort(labels["instance"])
	out = append(out, host)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(host string) bool { return host == "" })
}

// compareNatural compares names so that the numbers at their ends count as such:
// vllm-9 before vllm-10.
func compareNatural(a, b string) int {
	wordA, numberA := splitNumber(a)
	wordB, numberB := splitNumber(b)
	return cmp.Or(cmp.Compare(wordA, wordB), cmp.Compare(numberA, numberB), cmp.Compare(a, b))
}

func splitNumber(s string) (word string, number int) {
	end := len(strings.TrimRight(s, "0123456789"))
	number, err := strconv.Atoi(s[end:])
	if err != nil {
		number = -1
	}
	return s[:end], number
}

// narrow makes the reading one of the chosen replica, and returns its key.
func (s *snapshot) narrow(of subject) (key string, err error) {
	for _, p := range s.parts {
		key := of.keys[of.replica]
		if key == p.key || key == "" && slices.Contains([]string{p.Name, p.Pod, p.Instance}, of.replica) {
			if of.keys != nil {
				of.keys[of.replica] = p.key
			}
			s.Replica, s.At = p.Name, p.At
			return p.key, nil
		}
	}
	if len(s.parts) == 0 {
		return "", fmt.Errorf("no series of replica %s, nor of any other", of.replica)
	}
	var there []string
	for _, p := range s.parts {
		there = append(there, p.Name)
	}
	return "", fmt.Errorf("no series of replica %s: there are %s", of.replica, plain.FirstFew(there, 8))
}

// replicas are the parts as a Status carries them.
func (s *snapshot) replicas() []engine.Replica {
	var out []engine.Replica
	for _, p := range s.parts {
		out = append(out, p.Replica)
	}
	return out
}

// partRates fills in how fast each replica generates. A replica that has restarted, or
// was not there, has no rate yet.
func (s *snapshot) partRates(prev *snapshot) {
	for i := range s.parts {
		now := &s.parts[i]
		for _, last := range prev.parts {
			if last.key == now.key && now.At.After(last.At) {
				now.GenerationTokensPerS = now.tokens.since(last.tokens).Scale(1 / now.At.Sub(last.At).Seconds())
			}
		}
	}
}

// regroup marks a reading that is merged of other replicas or ranks than the one before.
// What one had counted before it joined must not look like an increase, nor its leaving like
// a restart.
func (s *snapshot) regroup(prev *snapshot) {
	if prev == nil || prev.model != s.model || prev.Replica != s.Replica {
		return
	}
	before, now := prev.places(), s.places()
	s.noteChange("joined", now, before)
	s.noteChange("left", before, now)
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

// noteChange notes whose places are not among others.
func (s *snapshot) noteChange(what string, places, others map[string]string) {
	names := map[string]bool{}
	for place, name := range places {
		if _, both := others[place]; !both {
			names[name] = true
		}
	}
	if len(names) > 0 {
		s.Regrouped = true
		s.Note(plain.FirstFew(slices.SortedFunc(maps.Keys(names), compareNatural), 3) + " has " + what + ": counters start over")
	}
}
