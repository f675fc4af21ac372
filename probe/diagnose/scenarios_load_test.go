package diagnose_test

import (
	"time"

	"sonde/probe"
	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/sim"
)

// loadScenarios are loads that a sound server cannot carry well.
func loadScenarios() []scenario {
	return []scenario{
		{name: "a queue makes the first token slow", engine: sim.Options{MaxSeqs: 4}, ask: closed(16, 256, 128),
			strongest: "slow_start", says: []string{"decoding is fine: waiting in the engine's queue"}},
		{name: "prefill makes the first token slow", engine: sim.Options{KVGB: 40, TokenBudget: 32, MaxSeqs: 16}, ask: closed(1, 8000, 32), lasts: 45 * time.Second,
			strongest: "slow_start", says: []string{"decoding is fine: prefill"}},
		{name: "prompts in between make decode slow", engine: roomy, ask: closed(8, 8000, 64), lasts: 60 * time.Second,
			strongest: "slow_decode", says: []string{"prompts that are read in between"}, also: []diagnose.Rule{"prefill_interference"}},
		{name: "a long prompt takes its time", engine: roomy, ask: closed(1, 12000, 32), lasts: 40 * time.Second,
			strongest: "slow_start", says: []string{"as prompts are long"}, also: []diagnose.Rule{"healthy"}},
		{name: "both are slow", engine: sim.Options{GPU: "L4", Speed: 0.5, MaxSeqs: 8}, ask: closed(24, 128, 16), lasts: 40 * time.Second,
			strongest: "saturated"},
		{name: "decode is slow", engine: sim.Options{GPU: "L4", Speed: 0.5}, ask: closed(4, 64, 64), lasts: 60 * time.Second,
			strongest: "bandwidth_bound", says: []string{"TPOT 12"}, also: []diagnose.Rule{"slow_decode"}},
		{name: "more comes in than is served", engine: sim.Options{MaxSeqs: 4}, ask: many(open(6, 256, 128)), lasts: 20 * time.Second,
			strongest: "overload", says: []string{"requests in the engine's queue"}, also: []diagnose.Rule{"slow_start"}},
		{name: "the same without metrics", engine: sim.Options{MaxSeqs: 4}, ask: blind(many(open(6, 256, 128))), lasts: 20 * time.Second,
			strongest: "overload", says: []string{"requests without a first token"}, also: []diagnose.Rule{"slow_start"}},
		{name: "a rate fills its cap", engine: sim.Options{MaxSeqs: 4}, ask: open(12, 256, 128), lasts: 40 * time.Second,
			strongest: "overload", says: []string{"with all 64 streams in use"}, also: []diagnose.Rule{"slow_start"}},
		{name: "a rate that can be carried", engine: sim.Options{MaxSeqs: 4}, ask: many(open(2, 256, 128)), lasts: 60 * time.Second,
			strongest: "healthy", may: []diagnose.Rule{"bandwidth_bound"}, never: true},
		{name: "past the knee", engine: sim.Options{MaxSeqs: 8}, ask: closed(8, 256, 64), strongest: "past_knee", may: []diagnose.Rule{"bandwidth_bound"},
			play: func(s *stage) {
				s.play(12 * time.Second)
				s.load(func(l *frame.Load) { l.Concurrency = 16 })
				s.play(15 * time.Second)
			}},
		{name: "before the knee", ask: closed(4, 256, 64), strongest: "healthy", may: []diagnose.Rule{"bandwidth_bound"}, never: true,
			refuted: []diagnose.Rule{"past_knee"}, play: func(s *stage) {
				s.play(12 * time.Second)
				s.load(func(l *frame.Load) { l.Concurrency = 8 })
				s.play(15 * time.Second)
			}},
		{name: "a service level is missed", ask: closed(4, 256, 64), lasts: 12 * time.Second,
			slos:      []diagnose.SLO{{Text: "ttft_p95=50ms", Metric: "ttft", Quantile: 0.95, LimitMS: 50}},
			strongest: "slo", says: []string{"SLO ttft_p95=50ms is missed: "}, may: []diagnose.Rule{"bandwidth_bound"}, refuted: []diagnose.Rule{"slo_unclear"}},
		{name: "a service level is met", ask: closed(4, 256, 64), lasts: 12 * time.Second,
			slos:      []diagnose.SLO{{Text: "ttft_p95=2s", Metric: "ttft", Quantile: 0.95, LimitMS: 2000}},
			strongest: "healthy", may: []diagnose.Rule{"bandwidth_bound"}, refuted: []diagnose.Rule{"slo"}},
		{name: "too few for a service level", ask: closed(4, 256, 64), lasts: 12 * time.Second,
			slos:      []diagnose.SLO{{Text: "ttft_p99=2s", Metric: "ttft", Quantile: 0.99, LimitMS: 2000}},
			strongest: "slo_unclear", also: []diagnose.Rule{"healthy"}, may: []diagnose.Rule{"bandwidth_bound"}},
	}
}

// many lets an open loop have as many streams as it takes.
func many(o probe.Options) probe.Options {
	o.Load.Concurrency = 1024
	return o
}
