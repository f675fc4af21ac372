package scrape

import (
	"errors"
	"fmt"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// sglangExtras stand in for a metrics page that is off: /v1/loads is there since
// v0.5.8 without a flag. (/health would generate a token.)
var sglangExtras = []extraPage{
	{
		path: "/v1/loads", instead: true, missing: "start SGLang with --enable-metrics", read: readLoads,
		fields: []engine.Field{engine.FieldRunning, engine.FieldWaiting, engine.FieldPaused, engine.FieldKVUsed, engine.FieldKVCapacity, engine.FieldKVFill, engine.FieldMaxRunning, engine.FieldOutputGauge},
	},
}

var errNoLoads = errors.New("no loads in it")

// readLoads reads GET /v1/loads: an object per data-parallel rank
// (python/sglang/srt/managers/load_snapshot.py). Its cache_hit_rate is that of the
// last prefill batch alone and its utilization is always 0: neither is used.
func readLoads(a answer, into filler) error {
	o, err := a.object()
	if err != nil {
		return err
	}
	loads := o.list("loads")
	if len(loads) == 0 {
		return errNoLoads
	}
	sums := map[string]opt.Float{}
	var fills []engine.RankFill
	var capacities []float64
	for i, rank := range loads {
		for _, key := range []string{"num_running_reqs", "num_waiting_reqs", "num_used_tokens", "max_total_num_tokens", "max_running_requests", "gen_throughput"} {
			sums[key] = addKnown(sums[key], rank.figure(key))
		}
		queues := rank.object("queues")
		sums["num_waiting_reqs"] = addKnown(sums["num_waiting_reqs"], queues.figure("grammar")) // a queue of its own
		for _, key := range []string{"paused", "retracted"} {
			sums["paused"] = addKnown(sums["paused"], queues.figure(key))
		}
		if fill := rank.figure("token_usage"); fill.OK {
			fills = append(fills, engine.RankFill{Rank: rankName(rank, i, len(loads)), Fill: fill.V})
			capacities = append(capacities, rank.figure("max_total_num_tokens").V)
		}
	}
	into.Ranks = len(loads)
	into.set(engine.FieldRunning, sums["num_running_reqs"], "num_running_reqs")
	into.set(engine.FieldWaiting, sums["num_waiting_reqs"], "num_waiting_reqs")
	into.set(engine.FieldPaused, sums["paused"], "queues")
	into.set(engine.FieldKVUsed, sums["num_used_tokens"], "num_used_tokens")
	into.set(engine.FieldKVCapacity, sums["max_total_num_tokens"], "max_total_num_tokens")
	into.set(engine.FieldMaxRunning, sums["max_running_requests"], "max_running_requests")
	into.set(engine.FieldOutputGauge, sums["gen_throughput"], "gen_throughput")
	into.kv(fills, capacities, "token_usage")
	return nil
}

// rankName is what a rank calls itself; one alone has no name.
func rankName(rank object, index, ranks int) string {
	if ranks == 1 {
		return ""
	}
	if n := rank.figure("dp_rank"); n.OK {
		return fmt.Sprint(int(n.V))
	}
	return fmt.Sprint(index)
}
