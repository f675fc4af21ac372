package scrape

import (
	"reflect"
	"slices"
	"strconv"

	"sonde/probe/prom"
)

// facts are what follows from the labels of a series, whatever its name is.
type facts struct {
	labels map[string]string // kept, so that no other map gets its address

	key      string // identifies the series, without the labels of those that repeat each other
	group    string // the same without its priority
	part     string // which part of its rank it is of, comparable as text
	priority bool   // it is of one priority
	model    string // "" if it names none
	rank     string // for people; "" if nothing tells it from others
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
	repeated := func(label string) bool { return label == pidLabel || slices.Contains(partLabels, label) }
	f := &facts{
		labels: labels, model: modelOf(labels), rank: rankOf(labels), priority: labels[priorityLabel] != "",
		key: keyWithout(labels, repeated), part: partOf(labels),
	}
	f.replica = keyOf(labels, replicaLabels)
	f.place = f.replica + placeMark + keyOf(labels, innerLabels)
	f.group = f.key
	if f.priority {
		f.group = keyWithout(labels, func(label string) bool { return label == priorityLabel || repeated(label) })
	}
	return f
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
