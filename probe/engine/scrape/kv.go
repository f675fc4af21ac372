package scrape

import (
	"fmt"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// kvFill reads the fill of every rank, and what the KV cache holds. Values that
// are no fractions are left out: nothing on the page tells what they are.
func (s *snapshot) kvFill(v view) {
	capacities := s.kvCapacity(v)
	if s.KVFill.OK {
		return
	}
	p, ranks := v.perRank(v.table.kvFill)
	var fills []engine.RankFill
	var weights []float64
	for _, r := range ranks {
		if r.value < 0 || r.value > 1 {
			s.note(fmt.Sprintf("KV cache fill %g is out of range: the page should give a fraction from 0 to 1", r.value))
			continue
		}
		fills = append(fills, engine.RankFill{Rank: r.rank, Fill: r.value})
		if c, known := capacities[r.rank]; known {
			weights = append(weights, c)
		}
	}
	s.fills(fills, weights, engine.Origin{Source: v.source(p), At: s.At, Remark: v.table.remarks[engine.FieldKVFill]})
	if v.table.meanFill {
		s.KVFillMax, s.KVByRank = opt.Float{}, nil
	}
}

// fills takes the mean and the fullest rank. A full rank preempts while the mean
// looks fine. Capacities weigh the mean, if there is one for every rank.
func (s *snapshot) fills(ranks []engine.RankFill, capacities []float64, o engine.Origin) {
	if len(ranks) == 0 {
		return
	}
	var sum, weight, fullest float64
	for i, r := range ranks {
		w := 1.0
		if len(capacities) == len(ranks) && capacities[i] > 0 {
			w = capacities[i]
		}
		sum, weight, fullest = sum+w*r.Fill, weight+w, max(fullest, r.Fill)
	}
	s.KVFill, s.KVFillMax, s.KVByRank = opt.Of(sum/weight), opt.Of(fullest), ranks
	if s.Ranks == 0 {
		s.Ranks = len(ranks)
	}
	s.from(engine.FieldKVFill, o)
}

// kvCapacity adds up the KV cache of all ranks, and returns it by rank. It is
// unknown if one rank's is.
func (s *snapshot) kvCapacity(v view) map[string]float64 {
	p, ranks := v.perRank(v.table.gauges[engine.FieldKVCapacity])
	if len(ranks) == 0 && v.table.capacity != nil {
		p, ranks = v.configured()
	}
	byRank, sum := map[string]float64{}, 0.0
	for _, r := range ranks {
		if _, twice := byRank[r.rank]; twice {
			return nil
		}
		byRank[r.rank] = r.value
		sum += r.value
	}
	if len(ranks) > 0 && !s.KVCapacityTokens.OK {
		s.KVCapacityTokens = opt.Of(sum)
		s.from(engine.FieldKVCapacity, engine.Origin{Source: v.source(p), At: s.At, Remark: v.table.remarks[engine.FieldKVCapacity]})
	}
	return byRank
}

// configured reads each rank's capacity from the labels of its configuration. They
// name no model: with several on the page they cannot be told apart.
func (v view) configured() (picked, []rankValue) {
	p, ok := v.pick(v.table.config, "")
	if !ok || v.several {
		return p, nil
	}
	var out []rankValue
	for _, c := range v.series(p, p.terms[0], "") {
		tokens := v.table.capacity(c.Labels)
		if !tokens.OK {
			return p, nil
		}
		out = append(out, rankValue{rank: rankOf(c.Labels), value: tokens.V})
	}
	return p, out
}
