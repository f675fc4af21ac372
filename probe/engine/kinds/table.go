package kinds

import (
	"slices"
	"strings"

	"sonde/probe/engine"
)

// Table says under which names an engine publishes the fields of a Reading. Fields that
// it does not publish are omitted. Names are without the prefix.
type Table struct {
	Prefixes []string // what the names start with, most usual first; "" for engines without one

	// Fields are gauges and counters, which are summed over ranks, and distributions, which
	// are merged. Three gauges are different: FieldMaxModelLen is the greatest of the ranks,
	// FieldKVFill a fraction of each, FieldHitRateGauge a fraction, used without counters.
	Fields map[engine.Field]Ways

	Config   Ways                              // gauge of each rank whose labels are the configuration
	Settings Ways                              // the same where it shows no capacity; nil = Config
	Capacity Ways                              // tokens of a rank, of labels instead of metrics
	Unit     func(*engine.Reading) engine.Unit // what prefix queries and hits count; nil = tokens

	ModelFrom Ways                    // metric whose model labels count; nil = all that are read
	Router    bool                    // figures are of a pool of engines
	MeanFill  bool                    // FieldKVFill is a mean already: the fullest is not known
	OnFinish  bool                    // token counters move only when a request ends
	Digits    int                     // significant digits of its counters; 0 = all
	Companion bool                    // adds to another engine's names on the same page
	Via       []Via                   // what stands between sonde and the engine
	Remarks   map[engine.Field]string // what is unusual about a field, in few words
	Notes     []string                // for every reading
}

// Via recognises what an engine's page came through.
type Via struct {
	Prefix string // one of the table's prefixes; "" = any
	Label  string // a label on its series; "" = none needed
	Metric string // a metric of its own, by its full name; "" = none needed
	Name   string // for people
}

// Ways to read one field, newest first. The first one that the page has counts; the
// others would repeat it. A distribution that is a quotient has only its mean: the sum of
// all times divided by how many there were.
type Ways []Way

// Way is one metric, or several that are joined rank by rank.
type Way struct {
	Op      Op
	Metrics []Metric
}

// Op joins the metrics of a Way.
type Op string

// Operators. Of a sum, the first metric must be on the page; of the others, all.
const (
	Single   Op = ""
	Sum      Op = "+"
	Product  Op = "*"
	Quotient Op = "/"
)

// Metric is the name of a metric, with what its labels must be. One that ends in a smaller
// unit than seconds is read in seconds.
type Metric struct {
	Name  string
	Where []Match
	text  string // as the table has it
}

// Match is a label and the values that it may have.
type Match struct {
	Label  string
	Values []string
}

// Names reads ways as tables write them: "metric", "metric{label=this|that}", or several
// of those with an operator between them: "metric * other".
func Names(list ...string) Ways {
	var out Ways
	for _, text := range list {
		var w Way
		for i, word := range strings.Fields(text) {
			if i%2 == 1 {
				w.Op = Op(word)
				continue
			}
			w.Metrics = append(w.Metrics, metric(word))
		}
		out = append(out, w)
	}
	return out
}

func metric(text string) Metric {
	name, labels, _ := strings.Cut(strings.TrimSuffix(text, "}"), "{")
	m := Metric{Name: name, text: text}
	for _, condition := range strings.Split(labels, ",") {
		if label, values, ok := strings.Cut(condition, "="); ok {
			m.Where = append(m.Where, Match{label, strings.Split(values, "|")})
		}
	}
	return m
}

// Accepts reports whether a series has the labels that the metric needs.
func (m Metric) Accepts(labels map[string]string) bool {
	for _, w := range m.Where {
		if !slices.Contains(w.Values, labels[w.Label]) {
			return false
		}
	}
	return true
}

// Selects reports whether a label is one by which the metric chooses its series.
func (m Metric) Selects(name string) bool {
	return slices.ContainsFunc(m.Where, func(w Match) bool { return w.Label == name && len(w.Values) == 1 })
}

// Scale is what a value must be multiplied with to be in seconds, if it is a time in a
// smaller unit; else 1.
func (m Metric) Scale() float64 {
	name := strings.TrimSuffix(m.Name, "_total")
	switch {
	case strings.HasSuffix(name, "_ms"), strings.HasSuffix(name, "_milliseconds"):
		return 1e-3
	case strings.HasSuffix(name, "_us"), strings.HasSuffix(name, "_microseconds"):
		return 1e-6
	}
	return 1
}

// String is the metric as the table has it.
func (m Metric) String() string { return m.text }

// Families returns the full names of everything that the table reads.
func (t *Table) Families() []string {
	out := t.NamesOf(slices.Concat(t.Config, t.Settings, t.ModelFrom))
	for _, ways := range t.Fields {
		out = append(out, t.NamesOf(ways)...)
	}
	for _, via := range t.Via {
		if via.Metric != "" {
			out = append(out, via.Metric)
		}
	}
	return out
}

// NamesOf returns the full names of the metrics in some ways.
func (t *Table) NamesOf(ways Ways) []string {
	var out []string
	for _, w := range ways {
		for _, m := range w.Metrics {
			for _, prefix := range t.Prefixes {
				out = append(out, prefix+m.Name)
			}
		}
	}
	return out
}
