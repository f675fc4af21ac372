package scrape

import (
	"slices"
	"strings"
	"sync"
)

// names are the ways to read one field, newest first. The first one that the page
// has counts; the others would repeat it. A way is a metric's name without the
// engine's prefix, with the labels that it must have, or several of them joined by
// one kind of operator, rank by rank:
//
//	num_requests_running
//	realtime_tokens_total{mode=prefill_compute|prefill_cache}
//	num_queue_reqs + num_grammar_queue_reqs    // what is not there is left out
//	kv_cache_max_blocks * kv_cache_tokens_per_block
//	batch_current_max_tokens / batch_max_total_tokens
//
// A name that ends in a smaller unit than seconds is read in seconds.
type names []string

// expression is one way to read a field.
type expression struct {
	terms []term
	op    string // "+", "*", "/"; "" with one term
}

// term is a metric with what its labels must be.
type term struct {
	name  string
	where []labelMatch
}

type labelMatch struct {
	label  string
	values []string
}

// parsedNames keeps what has been parsed: tables are constant, pages come every second.
var parsedNames sync.Map // string to expression

func (list names) parsed() []expression {
	out := make([]expression, 0, len(list))
	for _, text := range list {
		e, ok := parsedNames.Load(text)
		if !ok {
			e = parseExpression(text)
			parsedNames.Store(text, e)
		}
		out = append(out, e.(expression))
	}
	return out
}

func parseExpression(text string) expression {
	for _, op := range []string{"+", "*", "/"} {
		parts := strings.Split(text, " "+op+" ")
		if len(parts) == 1 {
			continue
		}
		e := expression{op: op}
		for _, part := range parts {
			e.terms = append(e.terms, parseTerm(part))
		}
		return e
	}
	return expression{terms: []term{parseTerm(text)}}
}

func parseTerm(text string) term {
	name, labels, has := strings.Cut(strings.TrimSpace(text), "{")
	t := term{name: name}
	if !has {
		return t
	}
	for _, pair := range strings.Split(strings.TrimSuffix(labels, "}"), ",") {
		label, values, _ := strings.Cut(pair, "=")
		t.where = append(t.where, labelMatch{label, strings.Split(values, "|")})
	}
	return t
}

// accepts tells whether a series has the labels that the term wants.
func (t term) accepts(labels map[string]string) bool {
	for _, m := range t.where {
		if !slices.Contains(m.values, labels[m.label]) {
			return false
		}
	}
	return true
}

// selects tells whether a label is the one by which the term selects its series.
func (t term) selects(label string) bool {
	return label == pidLabel || slices.Contains(partLabels, label) ||
		slices.ContainsFunc(t.where, func(m labelMatch) bool { return m.label == label && len(m.values) == 1 })
}

// scale is what a value must be multiplied with to be in seconds, if it is a time
// in a smaller unit; else 1.
func (t term) scale() float64 {
	name := strings.TrimSuffix(t.name, "_total")
	switch {
	case strings.HasSuffix(name, "_ms"), strings.HasSuffix(name, "_milliseconds"):
		return 1e-3
	case strings.HasSuffix(name, "_us"), strings.HasSuffix(name, "_microseconds"):
		return 1e-6
	}
	return 1
}

// String writes a term for people.
func (t term) String() string {
	if len(t.where) == 0 {
		return t.name
	}
	var labels []string
	for _, m := range t.where {
		labels = append(labels, m.label+"="+strings.Join(m.values, "|"))
	}
	return t.name + "{" + strings.Join(labels, ",") + "}"
}
