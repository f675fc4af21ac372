package engine

import "sonde/probe/opt"

// names are the names of one metric without the engine's prefix, newest first. The
// first one that the page has counts; the others would repeat it.
type names []string

// table says under which names an engine publishes the fields of a Reading. Fields
// that it does not publish stay empty. Latencies are histograms in seconds.
type table struct {
	prefixes []string // what the names start with, most usual first

	running, waiting names // gauges, requests; summed over ranks
	kvFill           names // gauge per rank, 0 to 1

	preemptions, promptTokens, generationTokens names // counters
	prefixQueries, prefixHits                   names // counters of the same unit
	prefixHitRate                               names // gauge, 0 to 1, where there are no counters

	ttft, gap, queue, prefill, e2e names // histograms

	config   names                                    // gauge per rank whose labels are the configuration
	capacity func(labels map[string]string) opt.Float // tokens of a rank, from those labels
}

// startTime is published by client libraries: when the process started, Unix time.
const startTime = "process_start_time_seconds"

// modelLabels are the labels that name the model of a series.
var modelLabels = []string{"model_name", "model"}

// pidLabel tells processes of one rank apart: they repeat each other.
const pidLabel = "pid"

func (t *table) all() []names {
	return []names{
		t.running, t.waiting, t.kvFill, t.preemptions, t.promptTokens, t.generationTokens,
		t.prefixQueries, t.prefixHits, t.prefixHitRate, t.ttft, t.gap, t.queue, t.prefill, t.e2e, t.config,
	}
}

// families returns the full names of everything that the table reads.
func (t *table) families() map[string]bool {
	out := map[string]bool{startTime: true}
	for _, list := range t.all() {
		for _, name := range list {
			for _, prefix := range t.prefixes {
				out[prefix+name] = true
			}
		}
	}
	return out
}
