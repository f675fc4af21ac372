package kinds

import (
	"slices"
	"strings"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// Table says under which names an engine publishes the fields of a Reading. Fields that
// it does not publish are omitted. Names are without the prefix.
type Table struct {
	Prefixes []string // what the names start with, most usual first; "" for engines without one

	// Gauges are summed over ranks, except FieldMaxModelLen (the greatest), FieldKVFill
	// (a fraction of each rank) and FieldHitRateGauge (a fraction, where there are no
	// counters).
	Gauges     map[engine.Field]Ways
	Counters   map[engine.Field]Ways // summed over ranks
	Histograms map[engine.Field]Ways // merged over ranks
	Means      map[engine.Field]SumAndCount

	Config   Ways                                     // gauge of each rank whose labels are the configuration
	Settings Ways                                     // the same where it shows no capacity; nil = Config
	Capacity func(labels map[string]string) opt.Float // tokens of a rank, from those labels
	Unit     func(*engine.Reading) engine.Unit        // what prefix queries and hits count; nil = tokens

	ModelFrom Ways                    // metric whose model labels count; nil = all that are read
	Router    bool                    // figures are of a pool of engines
	MeanFill  bool                    // FieldKVFill is a mean already: the fullest is not known
	OnFinish  bool                    // token counters move only when a request ends
	Digits    int                     // significant digits of its counters; 0 = all
	Companion bool                    // adds to another engine's names on the same page
	Via       []Via                   // what stands between
	Remarks   map[engine.Field]string // what is unusual about a field, in few words
	Notes     []string                // for every reading
}

// SumAndCount are counters of which only a mean can be made: times, and how many.
type SumAndCount struct{ Sum, Count string }

// Ways returns the mean as the quotient that it is.
func (m SumAndCount) Ways() Ways { return Ways{quotient(metric(m.Sum), metric(m.Count))} }

// Via recognises what an engine's page came through.
type Via struct {
	Prefix string // one of the table's prefixes; "" = any
	Label  string // a label on its series; "" = none needed
	Metric string // a metric of its own, by its full name; "" = none needed
	Name   string // for people
}

// Ways to read one field, newest first. The first one that the page has counts; the
// others would repeat it.
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
}

// Match is a label and the values that it may have.
type Match struct {
	Label  label
	Values []string
}

type label string

// Labels by which tables choose among the series of a metric.
const (
	labelMode           label = "mode"
	labelCacheSource    label = "cache_source"
	labelStage          label = "stage"
	labelFinishedReason label = "finished_reason"
	labelStatus         label = "status"
	labelStatusCode     label = "status_code"
	labelErrorType      label = "error_type"
	labelErr            label = "err"
	labelRequestType    label = "request_type"
	labelBlockType      label = "kv_cache_block_type"
	labelBatcherMetric  label = "inflight_batcher_specific_metric"
)

// names are ways to read a field by one metric each.
func names(list ...string) Ways {
	var out Ways
	for _, name := range list {
		out = append(out, one(name))
	}
	return out
}

func one(name string, where ...Match) Way { return Way{Metrics: []Metric{metric(name, where...)}} }

func sum(list ...string) Way {
	w := Way{Op: Sum}
	for _, name := range list {
		w.Metrics = append(w.Metrics, metric(name))
	}
	return w
}

func product(a, b Metric) Way  { return Way{Product, []Metric{a, b}} }
func quotient(a, b Metric) Way { return Way{Quotient, []Metric{a, b}} }

func metric(name string, where ...Match) Metric { return Metric{name, where} }

func is(l label, values ...string) Match { return Match{l, values} }

// Accepts reports whether a series has the labels that the metric needs.
func (m Metric) Accepts(labels map[string]string) bool {
	for _, w := range m.Where {
		if !slices.Contains(w.Values, labels[string(w.Label)]) {
			return false
		}
	}
	return true
}

// Selects reports whether a label is one by which the metric chooses its series.
func (m Metric) Selects(name string) bool {
	return slices.ContainsFunc(m.Where, func(w Match) bool { return string(w.Label) == name && len(w.Values) == 1 })
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

// String writes a metric for people.
func (m Metric) String() string {
	if len(m.Where) == 0 {
		return m.Name
	}
	var labels []string
	for _, w := range m.Where {
		labels = append(labels, string(w.Label)+"="+strings.Join(w.Values, "|"))
	}
	return m.Name + "{" + strings.Join(labels, ",") + "}"
}

// fields are those that a table names.
func (t *Table) fields() []engine.Field {
	var out []engine.Field
	for _, group := range t.groups() {
		for f := range group {
			out = append(out, f)
		}
	}
	for f := range t.Means {
		out = append(out, f)
	}
	if len(t.Config) > 0 {
		out = append(out, engine.FieldKVCapacity)
	}
	return out
}

func (t *Table) groups() []map[engine.Field]Ways {
	return []map[engine.Field]Ways{t.Gauges, t.Counters, t.Histograms}
}

// Families returns the full names of everything that the table reads.
func (t *Table) Families() map[string]bool {
	all := slices.Concat(t.Config, t.Settings, t.ModelFrom)
	for _, group := range t.groups() {
		for _, ways := range group {
			all = append(all, ways...)
		}
	}
	for _, m := range t.Means {
		all = append(all, m.Ways()...)
	}
	out := map[string]bool{}
	for _, w := range t.Via {
		if w.Metric != "" {
			out[w.Metric] = true
		}
	}
	for _, w := range all {
		for _, m := range w.Metrics {
			for _, prefix := range t.Prefixes {
				out[prefix+m.Name] = true
			}
		}
	}
	return out
}
