package scrape

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sonde/probe/prom"
)

// startTime is published by client libraries: when the process started, Unix time.
const startTime = "process_start_time_seconds"

// startHeader is llama.cpp's word for the same.
const startHeader = "Process-Start-Time-Unix"

// modelLabels are the labels that name the model of a series.
var modelLabels = []string{"model_name", "model"}

// Labels whose series repeat each other. Processes of a rank say the same with
// delays; of the parts of one rank's model (tensor, pipeline, expert) the lowest
// speaks for all; and the empty priority is the total of the others.
const (
	pidLabel      = "pid"
	priorityLabel = "priority"
)

var partLabels = []string{"pp_rank", "tp_rank", "moe_ep_rank", "moe_dp_rank", "attn_cp_rank"}

// replicaLabels tell replicas apart: processes, pods, machines, the outermost first.
var replicaLabels = []string{"instance", "pod", "NodeAddress", "ReplicaId", "server", "worker_addr"}

// innerLabels tell the data-parallel ranks of one replica apart.
var innerLabels = []string{"engine", "dp_rank"}

// rankLabels tell ranks and replicas apart, the outermost first.
var rankLabels = slices.Concat(replicaLabels, innerLabels)

// facts are what follows from the labels of a series, whatever its name is.
type facts struct {
	labels map[string]string // kept, so that no other map gets its address

	key      string // identifies the series, without the labels of those that repeat each other
	group    string // the same without its priority
	part     string // which part of its rank it is of, comparable as text
	priority bool   // it is of one priority
	model    string // "" if it names none
	rank     string // for people; "" if no label distinguishes it
	replica  string // identifies the replica; "" if no label names it
	place    string // identifies the rank within its replica as well
}

// factBook remembers facts. Pages of one place share their label sets from scrape
// to scrape, and sorting labels would be most of the work. Not for several
// goroutines.
type factBook struct{ known map[uintptr]*facts }

// maxFacts bounds the memory that they take.
const maxFacts = 100_000

func newFactBook() *factBook { return &factBook{known: map[uintptr]*facts{}} }

// of returns the facts of a series.
func (b *factBook) of(s *prom.Sample) *facts {
	address := reflect.ValueOf(s.Labels).Pointer()
	if f := b.known[address]; f != nil {
		return f
	}
	f := factsOf(s.Labels)
	if len(b.known) > maxFacts {
		clear(b.known)
	}
	b.known[address] = f
	return f
}

func factsOf(labels map[string]string) *facts {
	f := &facts{
		labels: labels, model: modelOf(labels), rank: rankOf(labels), priority: labels[priorityLabel] != "",
		key: keyOf(labels, identifies), part: partOf(labels),
	}
	f.replica = keyOf(labels, func(l string) bool { return slices.Contains(replicaLabels, l) })
	f.place = f.replica + placeMark + keyOf(labels, func(l string) bool { return slices.Contains(innerLabels, l) })
	f.group = f.key
	if f.priority {
		f.group = keyOf(labels, func(label string) bool { return label != priorityLabel && identifies(label) })
	}
	return f
}

// identifies reports whether series that differ by a label are not of the same rank.
func identifies(label string) bool {
	return label != pidLabel && label != "job" && !slices.Contains(partLabels, label)
}

// partOf writes the part of a rank so that the lowest sorts first: numbers get as
// many digits.
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

// mayRepeat reports whether series of a page may repeat each other.
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
	return slices.DeleteFunc(slices.Clone(samples), func(s prom.Sample) bool {
		return b.of(&s).priority && total[b.of(&s).group]
	})
}

// keyOf identifies a series, or what it is of, by some of its labels. An empty label is as
// good as none.
func keyOf(labels map[string]string, keep func(label string) bool) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if labels[name] != "" && keep(name) {
			b.WriteString(name + "\x00" + labels[name] + "\x00")
		}
	}
	return b.String()
}
