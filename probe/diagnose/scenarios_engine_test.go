package diagnose_test

import (
	"sync/atomic"
	"time"

	"sonde/probe"
	"sonde/probe/diagnose"
	"sonde/probe/prompt"
	"sonde/probe/sim"
)

// kvFor is a KV cache of the 8B model for so many tokens: 32 layers of 8 heads of
// 128, keys and values, two bytes each.
func kvFor(tokens float64) float64 { return tokens * 32 * 8 * 128 * 2 * 2 / 1e9 }

// prompts uses one prompt for all.
func prompts(o probe.Options, prefix prompt.Prefix, said string) probe.Options {
	o.Prompts, o.Prefix = prompt.NewSynthetic(prefix, 1), said
	return o
}

// mixed makes every fortieth prompt long.
type mixed struct {
	prompt.Source
	n atomic.Int64
}

func (m *mixed) Next(tokens int) prompt.Prompt {
	if m.n.Add(1)%40 == 0 {
		tokens = 4000
	}
	return m.Source.Next(tokens)
}

func someLong(o probe.Options) probe.Options {
	o.Prompts = &mixed{Source: prompt.NewSynthetic(prompt.Unique, 1)}
	return o
}

// engineScenarios are engines and hardware in trouble.
func engineScenarios() []scenario {
	return []scenario{
		{name: "the KV cache is too small", engine: sim.Options{KVGB: kvFor(3000)}, ask: closed(16, 128, 256), lasts: 20 * time.Second,
			strongest: "preemptions", may: []diagnose.Rule{"kv_room", "kv_full", "ttft_tail", "prefill_interference", "slow_start"}},
		{name: "the KV cache is full", engine: sim.Options{KVGB: kvFor(2080), MaxModelLen: 2064}, ask: closed(1, 2000, 16), lasts: 20 * time.Second,
			strongest: "kv_full", may: []diagnose.Rule{"bandwidth_bound"}, refuted: []diagnose.Rule{"kv_room"}},
		{name: "there is no room for one more prompt", engine: sim.Options{KVGB: 16}, ask: closed(16, 8192, 512), lasts: 60 * time.Second,
			strongest: "kv_room", says: []string{"wait for room in the KV cache"}, may: []diagnose.Rule{"ttft_tail", "slow_start", "saturated", "prefill_interference", "slow_decode"}},
		{name: "a new engine in its place", ask: closed(4, 256, 128), front: restarting(15*time.Second, sim.Options{}), lasts: 25 * time.Second,
			strongest: "engine_restarted", may: []diagnose.Rule{"bandwidth_bound"}},
		{name: "requests wait before an idle GPU", ask: off(closed(4, 256, 8)), front: staggered(3*time.Second, 700*time.Millisecond), lasts: 40 * time.Second,
			strongest: "gpu_idle", also: []diagnose.Rule{"slow_start"}},
		{name: "the engine stands still again and again", engine: sim.Options{Faults: sim.Faults{Stall: time.Second, StallEvery: 5 * time.Second}},
			ask: closed(4, 256, 128), strongest: "standstills", says: []string{"for up to 1.0 s"}, may: []diagnose.Rule{"tpot_tail", "bandwidth_bound"}},
		{name: "a few answers stand still", engine: sim.Options{Faults: sim.Faults{Stall: 2 * time.Second, StallEvery: 9 * time.Second}},
			ask: closed(4, 128, 32), lasts: 28 * time.Second, strongest: "standstills", also: []diagnose.Rule{"tpot_tail"}, may: []diagnose.Rule{"bandwidth_bound", "ttft_tail"}},
		{name: "a stall goes on", engine: sim.Options{Faults: sim.Faults{Stall: 20 * time.Second, StallEvery: 15 * time.Second}},
			ask: closed(4, 256, 128), lasts: 25 * time.Second, strongest: "stalled", says: []string{"4 of 4 streams"}},
		{name: "long prompts of others", ask: closed(4, 128, 128), engine: sim.Options{KVGB: 40, Unchunked: true}, strongest: "prefill_interference",
			says: []string{"long prompts of others"}, may: []diagnose.Rule{"bandwidth_bound"}, play: func(s *stage) {
				s.play(10 * time.Second)
				s.neighbours(1, 8000, 1, 4*time.Second)
				s.play(20 * time.Second)
			}},
		{name: "others send more", ask: closed(4, 256, 128), engine: roomy, strongest: "shared_server", also: []diagnose.Rule{"healthy"}, may: []diagnose.Rule{"prefill_interference", "bandwidth_bound"},
			play: func(s *stage) {
				s.play(5 * time.Second)
				s.neighbours(24, 256, 128, 0)
				s.play(20 * time.Second)
			}},
		{name: "gaps grow along an answer", engine: sim.Options{KVGB: 40, MaxModelLen: 4096}, ask: closed(48, 64, 2500), lasts: 60 * time.Second,
			strongest: "answer_growth", also: []diagnose.Rule{"healthy"}, may: []diagnose.Rule{"bandwidth_bound"}},
		{name: "a small model on a large GPU", engine: sim.Options{Model: "Qwen2.5-0.5B", GPU: "B200"}, ask: closed(1, 64, 128), lasts: 10 * time.Second,
			strongest: "healthy", also: []diagnose.Rule{"host_bound"}},
		{name: "speculative decoding", engine: sim.Options{SpecTokens: 4, SpecAcceptance: 0.8}, ask: closed(4, 256, 128), lasts: 15 * time.Second,
			strongest: "healthy", also: []diagnose.Rule{"tokens_per_chunk"}, may: []diagnose.Rule{"bandwidth_bound"}},
		{name: "one prompt for all", ask: prompts(closed(4, 512, 64), prompt.Same, "same"), lasts: 12 * time.Second,
			strongest: "healthy", also: []diagnose.Rule{"prefix_cache"}, may: []diagnose.Rule{"bandwidth_bound"}},
		{name: "prompts that are not new", ask: secretly(closed(4, 512, 64)), lasts: 12 * time.Second,
			strongest: "prefix_cache", says: []string{"although every prompt is to be new"}, may: []diagnose.Rule{"bandwidth_bound"}},
		{name: "a few long prompts among short ones", engine: roomy, ask: someLong(closed(2, 64, 16)), lasts: 60 * time.Second,
			strongest: "ttft_tail", says: []string{"those have long prompts"}, may: []diagnose.Rule{"bandwidth_bound"}},
	}
}

// secretly sends one prompt again and again, and says that all are new.
func secretly(o probe.Options) probe.Options {
	o.Prompts, o.Prefix = struct{ prompt.Source }{prompt.NewSynthetic(prompt.Same, 1)}, "unique"
	return o
}

// off is without the engine's metrics.
func off(o probe.Options) probe.Options {
	o.Metrics = "off"
	return o
}
