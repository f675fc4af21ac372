package engine

import (
	"fmt"
	"strings"
	"time"

	"sonde/probe/opt"
	"sonde/probe/promtext"
)

// snapshot is a reading with what the next one needs to tell how fast things move.
type snapshot struct {
	Reading
	model   string
	started float64             // process start, Unix seconds; 0 if unknown
	series  map[string]counters // by the field of the reading
}

// counters are the values of one counter's series, one per rank.
type counters map[string]float64

// Fields of a reading that are counters.
const (
	preemptions      = "preemptions"
	promptTokens     = "prompt tokens"
	generationTokens = "generation tokens"
	prefixQueries    = "prefix queries"
	prefixHits       = "prefix hits"
)

// read takes one page apart. model is the model to look at where a page carries
// several; the error says that it is none of them.
func read(page promtext.Page, t *table, model string, at time.Time) (snapshot, error) {
	v := view{page: page, table: t}
	onPage := models(page)
	if len(onPage) > 1 {
		if v.only = match(onPage, model); v.only == "" {
			return snapshot{}, fmt.Errorf("the metrics page carries the models %s: choose one with --model", strings.Join(onPage, ", "))
		}
	}
	s := snapshot{model: model, series: map[string]counters{}}
	s.At = at
	s.Notes = append(s.Notes, page.Notes()...)
	s.gauges(v)
	s.PrefixHitRate = v.rateGauge(t.prefixHitRate)
	s.Preemptions = s.counter(v, preemptions, t.preemptions)
	s.PromptTokens = s.counter(v, promptTokens, t.promptTokens)
	s.GenerationTokens = s.counter(v, generationTokens, t.generationTokens)
	s.PrefixQueries = s.counter(v, prefixQueries, t.prefixQueries)
	s.PrefixHits = s.counter(v, prefixHits, t.prefixHits)
	s.TTFT, s.Gap = v.histogram(t.ttft), v.histogram(t.gap)
	s.Queue, s.Prefill, s.E2E = v.histogram(t.queue), v.histogram(t.prefill), v.histogram(t.e2e)
	for _, p := range page.Samples(startTime) {
		s.started = max(s.started, p.Value)
	}
	return s, nil
}

// match finds a model among those of a page; some engines change the case.
func match(onPage []string, model string) string {
	for _, m := range onPage {
		if strings.EqualFold(m, model) {
			return m
		}
	}
	return ""
}

func (s *snapshot) gauges(v view) {
	s.Running, s.Waiting = v.sum(v.table.running), v.sum(v.table.waiting)
	s.kvFill(v)
	// Without a model label the configurations of several models cannot be told apart.
	if v.only == "" && v.table.capacity != nil {
		s.KVCapacityTokens = v.capacity()
	}
	for _, p := range v.samples(v.table.running) {
		if p.Labels["server"] != "" {
			s.note("this is the page of a router: numbers are sums over its servers")
			return
		}
	}
}

// kvFill takes the mean and the fullest rank. Values that are no fractions are
// left out: nothing on the page tells what they are.
func (s *snapshot) kvFill(v view) {
	sum, ranks := 0.0, 0
	for _, p := range v.samples(v.table.kvFill) {
		switch {
		case !finite(p.Value):
		case p.Value < 0 || p.Value > 1:
			s.note(fmt.Sprintf("KV cache fill %g is out of range: the page should give a fraction from 0 to 1", p.Value))
		default:
			sum += p.Value
			ranks++
			s.KVFillMax = opt.Of(max(p.Value, s.KVFillMax.V))
		}
	}
	if ranks > 0 {
		s.KVFill = opt.Of(sum / float64(ranks))
	}
}

// note adds a remark, once.
func (s *snapshot) note(text string) {
	for _, n := range s.Notes {
		if n == text {
			return
		}
	}
	s.Notes = append(s.Notes, text)
}

// counter adds up a counter over ranks and keeps its series. Routers publish
// gauges under counters' names: those do not count.
func (s *snapshot) counter(v view, field string, list names) opt.Float {
	name := v.first(list, "")
	if name == "" || v.page.Type(name) == "gauge" {
		return opt.Float{}
	}
	series, sum := counters{}, 0.0
	for _, p := range v.exactly(name) {
		if finite(p.Value) {
			series[seriesKey(p.Labels, pidLabel)] = p.Value
			sum += p.Value
		}
	}
	if len(series) == 0 {
		return opt.Float{}
	}
	s.series[field] = series
	return opt.Of(sum)
}

// sum adds up a gauge over ranks.
func (v view) sum(list names) opt.Float {
	sum, known := 0.0, false
	for _, p := range v.samples(list) {
		if finite(p.Value) {
			sum, known = sum+p.Value, true
		}
	}
	if !known {
		return opt.Float{}
	}
	return opt.Of(sum)
}

// rateGauge reads a fraction that the engine works out itself; -1 stands for none.
func (v view) rateGauge(list names) opt.Float {
	found := v.samples(list)
	if len(found) != 1 || !(found[0].Value >= 0 && found[0].Value <= 1) {
		return opt.Float{}
	}
	return opt.Of(found[0].Value)
}

// capacity adds up the KV cache of all ranks; unknown if one rank's is.
func (v view) capacity() opt.Float {
	sum := 0.0
	ranks := v.samples(v.table.config)
	for _, p := range ranks {
		tokens := v.table.capacity(p.Labels)
		if !tokens.OK {
			return opt.Float{}
		}
		sum += tokens.V
	}
	if len(ranks) == 0 {
		return opt.Float{}
	}
	return opt.Of(sum)
}
