package scrape

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sonde/probe/prom"
)

// modelLabels name the model of a series.
var modelLabels = []string{"model_name", "model"}

// Labels of series that repeat each other: the processes of a rank report the same with
// delays, the parts of a rank's model (tensor, pipeline, expert) report the same, and the
// empty priority is the total of the others.
const (
	pidLabel      = "pid"
	priorityLabel = "priority"
)

var partLabels = []string{"pp_rank", "tp_rank", "moe_ep_rank", "moe_dp_rank", "attn_cp_rank"}

// repeatLabels are those of series that may repeat each other.
var repeatLabels = append([]string{pidLabel, priorityLabel}, partLabels...)

// replicaLabels distinguish replicas: processes, pods, machines, the outermost first.
var replicaLabels = []string{"instance", "pod", "NodeAddress", "ReplicaId", "server", "worker_addr"}

// innerLabels distinguish the data-parallel ranks of one replica.
var innerLabels = []string{"engine", "dp_rank"}

// rankLabels distinguish ranks and replicas, the outermost first.
var rankLabels = slices.Concat(replicaLabels, innerLabels)

// placeMark ends a replica's key where that of a rank goes on.
const placeMark = "\x01"

// facts are what follows from the labels of a series, whatever its name is.
type facts struct {
	labels map[string]string // kept, so that no other map gets its address

	key      string // identifies the series, without the labels of those that repeat each other
	slot     *slot  // of the key
	group    string // the same without its priority
	part     string // the part of its rank, comparable as text
	priority bool   // it is of one priority
	model    string // "" if it names none
	rank     string // for people; "" if no label distinguishes it
	replica  string // identifies the replica; "" if no label names it
	place    string // identifies the rank within its replica as well
}

// factBook remembers facts. Pages from one place share their label sets from scrape to
// scrape, and sorting labels would be most of the work. Not safe for several goroutines.
type factBook struct {
	known map[uintptr]*facts
	slots map[string]*slot
	round int // counts the metrics that onePerRank has gone through
}

// slot is where the series of a key stands in the metric of a round.
type slot struct{ round, at int }

// maxFacts bounds the memory that they take.
const maxFacts = 100_000

func newFactBook() *factBook {
	return &factBook{known: map[uintptr]*facts{}, slots: map[string]*slot{}}
}

// of returns the facts of a series.
func (b *factBook) of(s *prom.Sample) *facts {
	address := reflect.ValueOf(s.Labels).Pointer()
	if f := b.known[address]; f != nil {
		return f
	}
	f := factsOf(s.Labels)
	if len(b.known) > maxFacts {
		clear(b.known)
		clear(b.slots)
	}
	if b.slots[f.key] == nil {
		b.slots[f.key] = &slot{}
	}
	f.slot = b.slots[f.key]
	b.known[address] = f
	return f
}

func factsOf(labels map[string]string) *facts {
	f := &facts{
		labels: labels, model: modelOf(labels), priority: labels[priorityLabel] != "",
		key: keyOf(labels, identifies), part: partOf(labels),
		replica: keyOf(labels, func(l string) bool { return slices.Contains(replicaLabels, l) }),
	}
	f.group = f.key
	if f.priority {
		f.group = keyOf(labels, func(l string) bool { return l != priorityLabel && identifies(l) })
	}
	f.place = f.replica + placeMark + keyOf(labels, func(l string) bool { return slices.Contains(innerLabels, l) })
	var rank []string
	for _, label := range rankLabels {
		if r := labels[label]; r != "" {
			rank = append(rank, r)
		}
	}
	f.rank = strings.Join(rank, "/")
	return f
}

// identifies reports whether series that differ by a label are not of the same rank.
func identifies(label string) bool {
	return label != pidLabel && label != "job" && !slices.Contains(partLabels, label)
}

// partOf writes the part of a rank so that the lowest sorts first: numbers are padded.
func partOf(labels map[string]string) string {
	var out []byte
	for _, label := range partLabels {
		text := labels[label]
		if n, err := strconv.Atoi(text); err == nil && n >= 0 {
			text = strconv.Itoa(1_000_000_000 + n)
		}
		out = append(append(out, text...), '/')
	}
	return string(out)
}

// modelOf names the model of a series. Some engines write "undefined" for none.
func modelOf(labels map[string]string) string {
	for _, label := range modelLabels {
		if m := labels[label]; m != "" && m != "undefined" {
			return m
		}
	}
	return ""
}

// keyOf identifies a series, or what it is of, by some of its labels. An empty label counts
// as none.
func keyOf(labels map[string]string, keep func(label string) bool) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if labels[name] != "" && keep(name) {
			b.WriteString(name + "\x00" + labels[name] + "\x00")
		}
	}
	return b.String()
}

// onePerRank leaves one series of a metric for each rank: series that repeat each other, or
// are parts of another one, must not be added up.
func (b *factBook) onePerRank(samples []prom.Sample) []prom.Sample {
	samples = b.totals(samples)
	out := make([]prom.Sample, 0, len(samples))
	b.round++
	for i := range samples {
		s := &samples[i]
		f := b.of(s)
		at := f.slot.at
		if f.slot.round != b.round {
			*f.slot = slot{b.round, len(out)}
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

// totals drops the series of single priorities where their total is there.
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
	return slices.DeleteFunc(slices.Clone(samples), func(s prom.Sample) bool { return single(s) && total[b.of(&s).group] })
}
