package scrape

import (
	"fmt"
	"strconv"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/opt"
)

// kvFill reads the fill of every rank, and what the KV cache holds. Values that
// are not fractions are skipped: nothing on the page says what they are.
func (s *snapshot) kvFill(v view) {
	capacities := s.kvCapacity(v)
	if s.KVFill.OK {
		return
	}
	p, ranks := v.perRank(engine.FieldKVFill)
	var fills []engine.RankFill
	var weights []float64
	for _, r := range ranks {
		if r.value < 0 || r.value > 1 {
			s.Note(fmt.Sprintf("KV cache fill %g is out of range: the page should give a fraction from 0 to 1", r.value))
			continue
		}
		fills = append(fills, engine.RankFill{Rank: r.facts.rank, Fill: r.value})
		if c, known := capacities[r.facts.rank]; known {
			weights = append(weights, c)
		}
	}
	if len(fills) > 0 {
		s.SetFills(fills, weights)
		s.from(v, engine.FieldKVFill, p)
	}
	if v.table.MeanFill {
		s.KVFillMax, s.KVByRank = opt.Float{}, nil
	}
}

// kvCapacity adds up the KV cache of all ranks, and returns it by rank. It is
// unknown if one rank's is.
func (s *snapshot) kvCapacity(v view) map[string]float64 {
	p, ranks := v.perRank(engine.FieldKVCapacity)
	if len(ranks) == 0 && v.table.Capacity != nil {
		p, ranks = v.configured()
	}
	byRank, sum := map[string]float64{}, 0.0
	for _, r := range ranks {
		if _, twice := byRank[r.facts.rank]; twice {
			return nil
		}
		byRank[r.facts.rank] = r.value
		sum += r.value
	}
	if len(ranks) > 0 && !s.KVCapacityTokens.OK {
		s.KVCapacityTokens = opt.Of(sum)
		s.from(v, engine.FieldKVCapacity, p)
	}
	return byRank
}

// configured reads each rank's capacity from the labels of its configuration. They
// name no model: with several on the page they cannot be told apart.
func (v view) configured() (picked, []rankValue) {
	p, ok := v.pick(v.table.Config, "")
	if !ok || v.several {
		return p, nil
	}
	var out []rankValue
	series := v.series(p, p.Metrics[0], "")
	for i := range series {
		tokens := product(series[i].Labels, v.table.Capacity)
		if !tokens.OK {
			return p, nil
		}
		out = append(out, rankValue{value: tokens.V, facts: v.facts.of(&series[i])})
	}
	return p, out
}

// product multiplies the numbers in some labels, by the first way whose labels are all
// there. vLLM writes "None" until it has profiled.
func product(labels map[string]string, list kinds.Ways) opt.Float {
	for _, w := range list {
		tokens := opt.Of(1)
		for _, m := range w.Metrics {
			v, err := strconv.ParseFloat(labels[m.Name], 64)
			tokens = opt.Float{V: tokens.V * v, OK: tokens.OK && err == nil}
		}
		if tokens.OK {
			return tokens
		}
	}
	return opt.Float{}
}

// shownSettings are labels of configuration metrics that matter to who reads a
// measurement, under the names that engines give them. Others, such as process numbers
// and defaults that are off, stay out.
var shownSettings = []string{
	"block_size", "page_size", // vLLM and LMDeploy; SGLang and TensorRT-LLM
	"cache_dtype", "dtype",
	"enable_prefix_caching", "enable_block_reuse",
	"gpu_memory_utilization", "free_gpu_memory_fraction", "cache_max_entry_count",
	"max_batch_size", "session_len", "tp", "dp",
}

// settings reads how the engine was started from the labels of its configuration: of all
// ranks those of the first, since ranks are started alike.
func (s *snapshot) settings(v view) {
	list := v.table.Settings
	if list == nil {
		list = v.table.Config
	}
	p, ok := v.pick(list, "")
	if !ok || v.several || len(s.Settings) > 0 {
		return
	}
	series := v.series(p, p.Metrics[0], "")
	if len(series) == 0 {
		return
	}
	labels := series[0].Labels
	for _, name := range shownSettings {
		if value := labels[name]; value != "" && value != "None" {
			s.Settings = append(s.Settings, name+" "+value)
		}
	}
	for _, name := range []string{"block_size", "page_size"} {
		if tokens, err := strconv.ParseFloat(labels[name], 64); err == nil && tokens > 0 {
			s.KVBlockTokens = opt.Of(tokens)
		}
	}
}
