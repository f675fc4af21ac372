package scrape

import (
	"slices"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// table says under which names an engine publishes the fields of a Reading. Fields
// that it does not publish stay out. Names are without the prefix; see names for
// what may stand in them.
type table struct {
	prefixes []string // what the names start with, most usual first; "" for engines without one

	gauges     map[engine.Field]names // summed over ranks
	counters   map[engine.Field]names // summed over ranks
	histograms map[engine.Field]names // merged over ranks
	means      map[engine.Field]sumAndCount
	kvFill     names // gauge per rank, 0 to 1
	hitRate    names // gauge, 0 to 1, where there are no counters

	config   names                                    // gauge per rank whose labels are the configuration
	settings names                                    // the same where it tells no capacity; nil = config
	capacity func(labels map[string]string) opt.Float // tokens of a rank, from those labels
	unit     func(engine.Reading) string              // what prefix queries and hits count; nil = tokens

	modelFrom names                   // metric whose model labels count; nil = all that are read
	router    bool                    // figures are of a pool of engines
	meanFill  bool                    // kvFill is a mean already: the fullest is not known
	onFinish  bool                    // token counters move only when a request ends
	digits    int                     // significant digits of its counters; 0 = all
	companion bool                    // adds to another engine's names on the same page
	via       []via                   // what stands between
	remarks   map[engine.Field]string // what is unusual about a field, in few words
	notes     []string                // for every reading
}

// sumAndCount are counters of which only a mean can be made: times, and how many.
type sumAndCount struct{ sum, count string }

// via recognises what an engine's page came through.
type via struct {
	prefix string // one of the table's prefixes; "" = any
	label  string // a label on its series; "" = none needed
	metric string // a metric of its own, by its full name; "" = none needed
	name   string // for people
}

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

func (t *table) all() []names {
	out := []names{t.kvFill, t.hitRate, t.config, t.settings, t.modelFrom}
	for _, group := range []map[engine.Field]names{t.gauges, t.counters, t.histograms} {
		for _, list := range group {
			out = append(out, list)
		}
	}
	for _, m := range t.means {
		out = append(out, names{m.sum, m.count})
	}
	return out
}

// families returns the full names of everything that the table reads.
func (t *table) families() map[string]bool {
	out := map[string]bool{startTime: true}
	for _, w := range t.via {
		if w.metric != "" {
			out[w.metric] = true
		}
	}
	for _, list := range t.all() {
		for _, e := range list.parsed() {
			for _, term := range e.terms {
				for _, prefix := range t.prefixes {
					out[prefix+term.name] = true
				}
			}
		}
	}
	return out
}
