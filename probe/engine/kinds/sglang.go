package kinds

import (
	"context"
	"errors"
	"fmt"

	"sonde/probe/engine"
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

var sglang = Kind{
	ID: "sglang", Name: "SGLang",
	OwnedBy:  []string{"sglang"},
	Prefixes: []string{"sglang:", "sglang_"},
	// SGLang's model gateway answers with its workers' pages at the second.
	Paths:   []string{"/metrics", "/engine_metrics"},
	Missing: "start SGLang with --enable-metrics",
	About:   sglangAbout,
	// It is there since v0.5.8 without a flag. (/health would generate a token.)
	Extra: []Extra{
		{
			Path: "/v1/loads", Instead: true, Missing: "start SGLang with --enable-metrics", Read: readLoads,
			Fields: []engine.Field{engine.FieldRunning, engine.FieldWaiting, engine.FieldPaused, engine.FieldKVUsed, engine.FieldKVCapacity, engine.FieldKVFill, engine.FieldMaxRunning, engine.FieldOutputGauge},
		},
	},
	Tokenize: Tokenizer{Plain: []Question{{"/tokenize", promptBody, countField("count")}}},
	Shape:    sglangShape,
	// The names of srt/observability/metrics_collector.py at v0.5.18 and of releases before
	// it, and behind them those of /v1/loads?format=prometheus. Gauges are refreshed at each
	// prefill batch and every 40 decode steps.
	Table: &Table{
		Prefixes: []string{"sglang:", "sglang_"},
		Fields: map[engine.Field]Ways{
			engine.FieldHitRateGauge: Names("cache_hit_rate"),
			engine.FieldKVFill:       Names("token_usage"),
			engine.FieldRunning:      Names("num_running_reqs"),
			// What waits for its grammar, and in disaggregated serving for another
			// instance, stands in queues of its own. One of them was renamed.
			engine.FieldWaiting: Names(
				"num_queue_reqs + num_grammar_queue_reqs + num_prefill_bootstrap_queue_reqs + num_prefill_prealloc_queue_reqs + num_prefill_inflight_queue_reqs + num_decode_prealloc_queue_reqs + num_decode_transfer_queue_reqs",
				"num_waiting_reqs",
			),
			engine.FieldPaused:           Names("num_retracted_reqs + num_paused_reqs"),
			engine.FieldKVCapacity:       Names("max_total_num_tokens", "num_pages * page_size"),
			engine.FieldKVUsed:           Names("kv_used_tokens", "num_used_tokens"),
			engine.FieldMaxModelLen:      Names("context_len"),
			engine.FieldMaxRunning:       Names("max_running_requests"),
			engine.FieldOutputGauge:      Names("gen_throughput"),
			engine.FieldPreemptions:      Names("num_retracted_requests_total"),
			engine.FieldPromptTokens:     Names("prompt_tokens_total"),
			engine.FieldGenerationTokens: Names("generation_tokens_total"),
			engine.FieldCachedTokens:     Names("cached_tokens_total{cache_source=total}", "cached_tokens_total"),
			engine.FieldPrefixQueries: Names(
				"prefill_effective_tokens_total",
				"realtime_tokens_total{mode=prefill_compute|prefill_cache}",
			),
			engine.FieldPrefixHits: Names(
				"prefill_effective_tokens_total{mode=device_hit|host_hit|storage_hit}",
				"realtime_tokens_total{mode=prefill_cache}",
			),
			engine.FieldLiveDecode:      Names("realtime_tokens_total{mode=decode}"),
			engine.FieldLivePrefill:     Names("realtime_tokens_total{mode=prefill_compute}"),
			engine.FieldLiveCached:      Names("realtime_tokens_total{mode=prefill_cache}"),
			engine.FieldRequestsOK:      Names("num_requests_total"),
			engine.FieldRequestsAborted: Names("num_aborted_requests_total", "num_aborted_requests"),
			engine.FieldTTFT:            Names("time_to_first_token_seconds"),
			engine.FieldGap:             Names("inter_token_latency_seconds", "time_per_output_token_seconds"),
			engine.FieldQueue:           Names("queue_time_seconds", "queue_time_s"),
			engine.FieldPrefill:         Names("per_stage_req_latency_seconds{stage=prefill_forward}"),
			engine.FieldE2E:             Names("e2e_request_latency_seconds"),
		},
		Config:   Names("cache_config_info"), // v0.5.9 and v0.5.10
		Capacity: Names("num_pages * page_size"),
		OnFinish: true,
		Remarks: map[engine.Field]string{
			engine.FieldOutputGauge:  "of the last 40 decode steps",
			engine.FieldHitRateGauge: "of the last prefill batch",
			engine.FieldPaused:       "retracted or paused",
		},
	},
}

// sglangGateway is SGLang's model gateway: its own page, on a port of its own,
// is about routing only.
var sglangGateway = Kind{
	ID: "sglang-gateway", Name: "SGLang model gateway",
	Prefixes: []string{"smg_"},
	Paths:    []string{"/engine_metrics"},
	Empty:    "give /engine_metrics of the gateway, or a worker's own address, with --metrics",
}

// readLoads reads GET /v1/loads: an object per data-parallel rank
// (python/sglang/srt/managers/load_snapshot.py). Its cache_hit_rate is that of the
// last prefill batch alone and its utilization is always 0: neither is used.
func readLoads(b Body, into Into) error {
	o, err := b.Object()
	if err != nil {
		return err
	}
	loads := o.List("loads")
	if len(loads) == 0 {
		return errors.New("the list of loads is empty")
	}
	sums := map[string]opt.Float{}
	var fills []engine.RankFill
	var capacities []float64
	for i, rank := range loads {
		for _, key := range []string{"num_running_reqs", "num_waiting_reqs", "num_used_tokens", "max_total_num_tokens", "max_running_requests", "gen_throughput"} {
			sums[key] = addKnown(sums[key], rank.Figure(key))
		}
		queues := rank.Object("queues")
		sums["num_waiting_reqs"] = addKnown(sums["num_waiting_reqs"], queues.Figure("grammar")) // a queue of its own
		for _, key := range []string{"paused", "retracted"} {
			sums["paused"] = addKnown(sums["paused"], queues.Figure(key))
		}
		if fill := rank.Figure("token_usage"); fill.OK {
			fills = append(fills, engine.RankFill{Rank: rankName(rank, i, len(loads)), Fill: fill.V})
			capacities = append(capacities, rank.Figure("max_total_num_tokens").V)
		}
	}
	into.Ranks = len(loads)
	into.Set(engine.FieldRunning, sums["num_running_reqs"], "num_running_reqs")
	into.Set(engine.FieldWaiting, sums["num_waiting_reqs"], "num_waiting_reqs")
	into.Set(engine.FieldPaused, sums["paused"], "queues")
	into.Set(engine.FieldKVUsed, sums["num_used_tokens"], "num_used_tokens")
	into.Set(engine.FieldKVCapacity, sums["max_total_num_tokens"], "max_total_num_tokens")
	into.Set(engine.FieldMaxRunning, sums["max_running_requests"], "max_running_requests")
	into.Set(engine.FieldOutputGauge, sums["gen_throughput"], "gen_throughput")
	into.KV(fills, capacities, "token_usage")
	return nil
}

// rankName is what a rank calls itself; one alone has no name.
func rankName(rank Object, index, ranks int) string {
	if ranks == 1 {
		return ""
	}
	if n := rank.Figure("dp_rank"); n.OK {
		return fmt.Sprint(int(n.V))
	}
	return fmt.Sprint(index)
}

// sglangAbout reads the server's arguments. The second path is that of before
// v0.5.
var sglangAbout = []About{{"/server_info", sglangArguments}, {"/get_server_info", sglangArguments}}

func sglangArguments(a Object, id *engine.Identity) bool {
	id.MaxModelLen = OrKeep(a.Number("context_length"), id.MaxModelLen)
	id.MaxRunning = OrKeep(a.Number("max_running_requests"), id.MaxRunning)
	for _, size := range [][2]string{{"tp_size", "tensor parallel"}, {"dp_size", "data parallel"}} {
		if n := a.Number(size[0]); n > 1 {
			id.About = append(id.About, fmt.Sprintf("%s %.0f", size[1], n))
		}
	}
	if mode := a.Text("disaggregation_mode"); mode == "prefill" || mode == "decode" {
		id.About = append(id.About, "a "+mode+" worker")
	}
	return version(a, id)
}

// sglangShape reads the arguments that the server was started with.
func sglangShape(ctx context.Context, ask Asker, _ string) roofline.ModelInfo {
	for _, about := range sglangAbout {
		if a, ok := ask.Ask(ctx, about.Path, nil); ok {
			return roofline.ModelInfo{Path: a.Text("model_path"), Quantisation: a.Text("quantization"),
				GPUs: int(a.Number("tp_size")), KVBits: bitsOf(a.Text("kv_cache_dtype"))}
		}
	}
	return roofline.ModelInfo{}
}
