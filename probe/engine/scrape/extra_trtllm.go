package scrape

import (
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// trtllmExtras stand in for a Prometheus page that is off. GET /metrics of
// trtllm-serve takes statistics out of a queue: whoever reads them takes them from
// every other reader, so they are read only where there is nothing else, and once
// a second at most.
var trtllmExtras = []extraPage{
	{
		path: "/metrics", instead: true, timeout: iterationsTimeout, missing: "start trtllm-serve with return_perf_metrics: true in its YAML", read: readIterations,
		fields: []engine.Field{engine.FieldRunning, engine.FieldWaiting, engine.FieldPaused, engine.FieldMaxRunning, engine.FieldKVFill, engine.FieldKVCapacity, engine.FieldKVUsed, engine.FieldHitRateGauge, engine.FieldPrefixHits, engine.FieldPrefixQueries},
	},
}

// iterationsTimeout is more than the two seconds that the server waits for
// statistics when it is idle.
const iterationsTimeout = 4 * time.Second

// readIterations reads iteration statistics, oldest first; the last says how things
// stand. None mean unknown, not idle: another reader may have been faster.
func readIterations(a answer, into filler) error {
	list, err := a.list()
	if err != nil {
		return err
	}
	iterations := objects(list)
	if len(iterations) == 0 {
		into.note("no new iteration statistics: TensorRT-LLM is idle, or another reader took them, or enable_iter_perf_stats is not true in its YAML")
		return nil
	}
	last := iterations[len(iterations)-1]
	into.set(engine.FieldRunning, last.figure("numActiveRequests"), "numActiveRequests")
	into.set(engine.FieldWaiting, last.figure("numQueuedRequests"), "numQueuedRequests")
	into.set(engine.FieldPaused, last.object("inflightBatchingStats").figure("numPausedRequests"), "numPausedRequests")
	into.set(engine.FieldMaxRunning, last.figure("maxNumActiveRequests"), "maxNumActiveRequests")
	readBlocks(last.object("kvCacheStats"), into)
	return nil
}

// readBlocks reads the KV cache of one iteration. Reused and missed blocks count
// from the start of the engine.
func readBlocks(kv object, into filler) {
	used, most, tokens := kv.figure("usedNumBlocks"), kv.figure("maxNumBlocks"), kv.figure("tokensPerBlock")
	if used.OK && most.V > 0 {
		into.kv([]engine.RankFill{{Fill: used.V / most.V}}, nil, "usedNumBlocks / maxNumBlocks")
	}
	if tokens.OK {
		into.set(engine.FieldKVCapacity, most.Scale(tokens.V), "maxNumBlocks × tokensPerBlock")
		into.set(engine.FieldKVUsed, used.Scale(tokens.V), "usedNumBlocks × tokensPerBlock")
	}
	into.set(engine.FieldHitRateGauge, kv.figure("cacheHitRate"), "cacheHitRate")
	reused, missed := kv.figure("reusedBlocks"), kv.figure("missedBlocks")
	if reused.OK && missed.OK {
		into.PrefixUnit = "blocks"
		into.count(engine.FieldPrefixHits, "", reused, "reusedBlocks")
		into.count(engine.FieldPrefixQueries, "", opt.Of(reused.V+missed.V), "reusedBlocks + missedBlocks")
	}
}

// isIterations tells iteration statistics from other JSON. Without one iteration
// there is no telling.
func isIterations(a answer) bool {
	items, err := a.list()
	if err != nil || len(items) == 0 {
		return false
	}
	first, _ := items[0].(map[string]any)
	_, has := first["iterLatencyMS"]
	return has
}
