package diagnose_test

import (
	"time"

	"sonde/probe"
	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/sim"
)

// closed makes what is asked of a closed loop.
func closed(streams, in, out int) probe.Options {
	return probe.Options{Load: frame.Load{Concurrency: streams, InputTokens: in, OutputTokens: out}, Prefix: "unique", Seed: 1}
}

// open makes what is asked of an open loop.
func open(rate float64, in, out int) probe.Options {
	o := closed(64, in, out)
	o.Load.Rate, o.Load.Poisson = rate, true
	return o
}

// blind sees only what the client sees.
func blind(o probe.Options) probe.Options {
	o.Metrics, o.GPU = "off", "off"
	return o
}

// roomy is an engine whose KV cache never fills.
var roomy = sim.Options{KVGB: 40}

// usual are the rules that a closed loop of some length can judge.
var usual = []diagnose.Rule{"all_fail", "loading", "slowed", "stalled", "hang", "client_bottleneck", "some_fail", "few_fail", "engine_restarted", "rate_limits",
	"overload", "saturated", "slow_start", "slow_decode", "preemptions", "kv_full", "gpu_throttled", "gpu_idle", "host_bound",
	"bandwidth_bound", "clumps", "path_delay", "uneven_replicas", "standstills", "shared_server", "ttft_tail", "tpot_tail", "e2e_tail",
	"prefix_cache", "short_output", "prompt_length", "tokens_per_chunk"}

// healthyScenarios are servers in good health: nothing may be said against them at
// any moment, from the first Frame on.
func healthyScenarios() []scenario {
	bandwidth, prefill := []diagnose.Rule{"bandwidth_bound"}, []diagnose.Rule{"prefill_interference"}
	all := []scenario{
		{name: "one stream", ask: closed(1, 256, 128), also: bandwidth, lasts: 20 * time.Second, refuted: []diagnose.Rule{"answer_growth"}},
		{name: "four streams", ask: closed(4, 256, 128), also: bandwidth, lasts: 20 * time.Second, refuted: []diagnose.Rule{"prefill_interference"}},
		{name: "sixteen streams", ask: closed(16, 256, 64), also: prefill, lasts: 27 * time.Second, refuted: usual},
		{name: "sixty-four streams", engine: roomy, ask: closed(64, 128, 64), also: prefill, lasts: 10 * time.Second},
		{name: "a hundred and twenty-eight streams", engine: sim.Options{GPU: "H100", KVGB: 40, MaxSeqs: 256}, ask: closed(128, 128, 64), lasts: 8 * time.Second},
		{name: "a large model on four GPUs", engine: sim.Options{Model: "Llama-3.1-70B", GPU: "H100", TP: 4}, ask: closed(4, 256, 64), may: bandwidth, lasts: 15 * time.Second},
		{name: "a small model", engine: sim.Options{Model: "Qwen2.5-0.5B", GPU: "L4"}, ask: closed(4, 256, 64), may: bandwidth, lasts: 10 * time.Second},
		{name: "long prompts", engine: roomy, ask: closed(4, 2048, 64), also: prefill, lasts: 40 * time.Second},
		{name: "short prompts and answers", ask: closed(8, 16, 8), may: bandwidth, lasts: 8 * time.Second},
		{name: "one token", ask: closed(8, 256, 1), lasts: 8 * time.Second},
		{name: "a rate", ask: open(2, 256, 64), may: bandwidth},
		{name: "few long answers", engine: roomy, ask: closed(1, 8192, 512), lasts: 40 * time.Second, says: []string{"healthy so far", "n 5"}, may: bandwidth},
		{name: "without metrics", ask: blind(closed(4, 256, 128)), lasts: 15 * time.Second},
		{name: "a GPU at 100 %", engine: roomy, ask: closed(12, 1024, 32), also: prefill, says: []string{"GPU SM 9"}},
		{name: "counts estimated", ask: closed(4, 256, 128), may: bandwidth, lasts: 15 * time.Second,
			front: rewriting(func(body map[string]any) { delete(body, "stream_options") })},
		{name: "an honest gateway", ask: closed(4, 256, 128), front: delayed(1, 5*time.Millisecond), may: bandwidth, lasts: 15 * time.Second},
	}
	for i := range all {
		s := &all[i]
		s.strongest, s.never = "healthy", true
	}
	return append(all, restless()...)
}

// restless are healthy servers whose load changes.
func restless() []scenario {
	return []scenario{
		{name: "nobody asks anything", strongest: "no_load", never: true},
		{name: "just begun", ask: closed(4, 256, 128), strongest: "not_enough_data", never: true,
			play: func(s *stage) { s.play(time.Second) }},
		{name: "up and down", ask: closed(1, 256, 64), strongest: "healthy", may: []diagnose.Rule{"bandwidth_bound"}, never: true, play: func(s *stage) {
			for _, streams := range []int{2, 4, 8, 16, 8, 4, 1} {
				s.load(func(l *frame.Load) { l.Concurrency = streams })
				s.play(12 * time.Second)
			}
		}},
		{name: "other lengths", ask: closed(4, 64, 16), engine: roomy, strongest: "healthy", may: []diagnose.Rule{"bandwidth_bound"}, never: true, play: func(s *stage) {
			for _, in := range []int{64, 1024, 256} {
				s.load(func(l *frame.Load) { l.InputTokens = in })
				s.play(8 * time.Second)
			}
		}},
		{name: "paused", ask: closed(8, 256, 128), strongest: "no_load", never: true, play: func(s *stage) {
			s.play(10 * time.Second)
			s.rig.Session.Abort()
			s.play(15 * time.Second)
		}},
		{name: "draining", ask: closed(4, 256, 1024), strongest: "draining", never: true, play: func(s *stage) {
			s.play(13 * time.Second)
			s.load(func(l *frame.Load) { l.Concurrency = 0 })
			s.play(2 * time.Second)
		}},
		{name: "statistics emptied", ask: closed(4, 256, 64), strongest: "not_enough_data", never: true, play: func(s *stage) {
			s.play(10 * time.Second)
			s.rig.Session.ResetStatistics()
			s.play(time.Second)
		}},
		{name: "a long prompt on purpose", ask: closed(4, 256, 128), engine: roomy, strongest: "healthy", may: []diagnose.Rule{"bandwidth_bound"}, never: true, play: func(s *stage) {
			s.play(15 * time.Second)
			s.rig.Session.FireLong()
			s.play(15 * time.Second)
		}},
		{name: "others on a calm engine", ask: probe.Options{}, strongest: "no_load", says: []string{"4 running, 0 waiting"}, never: true,
			play: func(s *stage) {
				s.neighbours(4, 256, 128, 0)
				s.play(15 * time.Second)
			}},
	}
}
