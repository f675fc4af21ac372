package scrape

import (
	"fmt"
	"strconv"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// kvFill reads how full each rank's KV cache is, and what it holds. Values that are not
// fractions are skipped: nothing on the page says what they are.
func (s *snapshot) kvFill(v view) {
	capacities := s.kvCapacity(v)
	if s.KVFill.OK {
		return
	}
	c := v.column(engine.FieldKVFill)
	var fills []engine.RankFill
	var weights []float64
	for _, r := range c.ranks {
		if !isFraction(r.value) {
			s.Note(fmt.Sprintf("KV cache fill %g is out of range: the page should give a fraction from 0 to 1", r.value))
			continue
		}
		fills = append(fills, engine.RankFill{Rank: r.rank, Fill: r.value})
		if tokens, known := capacities[r.rank]; known {
			weights = append(weights, tokens)
		}
	}
	s.SetFills(fills, weights, s.from(v, engine.FieldKVFill, c.picked))
	if v.table.MeanFill {
		s.KVFillMax, s.KVByRank = opt.Float{}, nil
	}
}

// kvCapacity adds up the KV cache of all ranks, in tokens, and returns it by rank. It is
// unknown if one rank's is.
func (s *snapshot) kvCapacity(v view) map[string]float64 {
	c := v.column(engine.FieldKVCapacity)
	if len(c.ranks) == 0 && v.table.Capacity != nil {
		c = v.configured()
	}
	byRank, sum := map[string]float64{}, 0.0
	for _, r := range c.ranks {
		if _, twice := byRank[r.rank]; twice {
			return nil
		}
		byRank[r.rank] = r.value
		sum += r.value
	}
	if len(c.ranks) > 0 && !s.KVCapacityTokens.OK {
		s.Put(engine.FieldKVCapacity, opt.Of(sum), s.from(v, engine.FieldKVCapacity, c.picked))
	}
	return byRank
}

// configuration returns the series whose labels are the configuration of each rank. They
// name no model: with several on the page it is unknown which is whose.
func (v view) configuration(list kinds.Ways) (picked, []prom.Sample) {
	p, ok := v.pick(list, "")
	if !ok || v.several {
		return p, nil
	}
	return p, v.series(p, p.Metrics[0], "")
}

// configured reads each rank's capacity from the labels of its configuration.
func (v view) configured() (c column) {
	p, series := v.configuration(v.table.Config)
	c.picked = p
	for i := range series {
		tokens := product(series[i].Labels, v.table.Capacity)
		if !tokens.OK {
			return column{}
		}
		c.ranks = append(c.ranks, rankValue{facts: v.facts.of(&series[i]), value: tokens.V})
	}
	return c
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

// settings reads how the engine was started from the labels of its configuration, of the
// first rank: ranks are started alike.
func (s *snapshot) settings(v view) {
	list := v.table.Settings
	if list == nil {
		list = v.table.Config
	}
	_, series := v.configuration(list)
	if len(series) == 0 || len(s.Settings) > 0 {
		return
	}
	for _, name := range shownSettings {
		value := series[0].Labels[name]
		if value == "" || value == "None" {
			continue
		}
		s.Settings = append(s.Settings, name+" "+value)
		if tokens, err := strconv.ParseFloat(value, 64); err == nil && tokens > 0 && (name == "block_size" || name == "page_size") {
			s.KVBlockTokens = opt.Of(tokens)
		}
	}
}
