package config

import "context"

// simCommand serves the embedded engine for other tools.
func simCommand() command {
	return command{
		name:  "sim",
		short: "Serve the embedded engine for other tools",
		long: "Serve the embedded engine for other tools: an OpenAI API, engine metrics and a\n" +
			"GPU exporter page.",
		example: "  sonde sim\n" +
			"  sonde sim --listen 127.0.0.1:9000 --max-seqs 64 --kv-gb 8\n" +
			"  sonde sim --scenario overload\n" +
			"  curl -X PUT -d clump=8,slow=2 http://127.0.0.1:8000/sim/faults",
		groups: []string{groupServe, groupMachine, groupFile},
		own:    simSettings(),
		common: []string{"sim.listen", "sim.model", "sim.gpu", "sim.max-seqs", "sim.token-budget", "sim.kv-gb", "sim.speed", "sim.reasoning", "sim.faults", "sim.scenario"},
		action: func(a Actions) func(context.Context, Config) error { return a.Sim },
	}
}

// simSettings are flags of `sonde sim` only; the file and the environment also set
// the machine of the engine that the other commands embed.
func simSettings() []setting {
	return append(append(simBasics(), simMachine()...), simBehaviour()...)
}

func simBasics() []setting {
	return []setting{
		{key: "sim.listen", arg: "HOST:PORT", initial: "127.0.0.1:8000", group: groupServe, help: "address to serve on",
			check: checkListen, field: func(c *Config) any { return &c.Sim.Listen }},
		{key: "sim.model", arg: "NAME", group: groupMachine, help: "model to simulate (automatic)",
			field: func(c *Config) any { return &c.Sim.Model }},
		{key: "sim.gpu", arg: "NAME", group: groupMachine, help: "GPU to simulate (automatic)",
			field: func(c *Config) any { return &c.Sim.GPU }},
		{key: "sim.max-seqs", arg: "N", initial: "0", group: groupMachine, help: "most sequences running at once (automatic)",
			check: between(0, 1_000_000, func(c *Config) int { return c.Sim.MaxSeqs }), field: func(c *Config) any { return &c.Sim.MaxSeqs }},
		{key: "sim.token-budget", arg: "N", initial: "0", group: groupMachine, help: "tokens per iteration (automatic)",
			check: between(0, 100_000_000, func(c *Config) int { return c.Sim.TokenBudget }), field: func(c *Config) any { return &c.Sim.TokenBudget }},
		{key: "sim.kv-gb", arg: "GB", initial: "0", group: groupMachine, help: "KV cache size (automatic)",
			check: between(0, 1_000_000, func(c *Config) float64 { return c.Sim.KVGB }), field: func(c *Config) any { return &c.Sim.KVGB }},
		{key: "sim.speed", arg: "X", initial: "1", group: groupMachine, help: "times real time",
			check: between(0.001, 1000, func(c *Config) float64 { return c.Sim.Speed }), field: func(c *Config) any { return &c.Sim.Speed }},
	}
}

// simMachine are the rarely needed settings of the engine.
func simMachine() []setting {
	return []setting{
		{key: "sim.tp", arg: "N", initial: "0", group: groupMachine, help: "GPUs that share the model; 0: as few as fit it",
			check: between(0, 64, func(c *Config) int { return c.Sim.TP }), field: func(c *Config) any { return &c.Sim.TP }},
		{key: "sim.dtype", arg: "TYPE", group: groupMachine, help: "weights: bf16, fp8, int4",
			field: func(c *Config) any { return &c.Sim.Dtype }},
		{key: "sim.kv-dtype", arg: "TYPE", group: groupMachine, help: "KV cache: auto, fp8",
			field: func(c *Config) any { return &c.Sim.KVDtype }},
		{key: "sim.max-model-len", arg: "N", initial: "0", group: groupMachine, help: "prompt and answer, tokens (automatic)",
			check: between(0, 100_000_000, func(c *Config) int { return c.Sim.MaxModelLen }), field: func(c *Config) any { return &c.Sim.MaxModelLen }},
		{key: "sim.block-size", arg: "N", initial: "0", group: groupMachine, help: "tokens in a KV block (16)",
			check: between(0, 1_000_000, func(c *Config) int { return c.Sim.BlockSize }), field: func(c *Config) any { return &c.Sim.BlockSize }},
		{key: "sim.unchunked", group: groupMachine, help: "no chunked prefill",
			field: func(c *Config) any { return &c.Sim.Unchunked }},
		{key: "sim.no-prefix-cache", group: groupMachine, help: "no prefix caching",
			field: func(c *Config) any { return &c.Sim.NoPrefixCache }},
		{key: "sim.spec-tokens", arg: "N", initial: "0", group: groupMachine, help: "draft tokens of speculative decoding",
			check: between(0, 1000, func(c *Config) int { return c.Sim.SpecTokens }), field: func(c *Config) any { return &c.Sim.SpecTokens }},
		{key: "sim.spec-acceptance", arg: "SHARE", initial: "0", group: groupMachine, help: "share of drafts accepted (0.7)",
			check: between(0, 1, func(c *Config) float64 { return c.Sim.SpecAcceptance }), field: func(c *Config) any { return &c.Sim.SpecAcceptance }},
		{key: "sim.disaggregated", group: groupMachine, help: "separate GPUs for prefill",
			field: func(c *Config) any { return &c.Sim.Disaggregated }},
		{key: "sim.transfer-gbs", arg: "GB/S", initial: "0", group: groupMachine, help: "bandwidth of the KV link (25)",
			check: between(0, 1_000_000, func(c *Config) float64 { return c.Sim.TransferGBs }), field: func(c *Config) any { return &c.Sim.TransferGBs }},
	}
}

// simBehaviour is what clients see of the engine besides its machine.
func simBehaviour() []setting {
	return []setting{
		{key: "sim.reasoning", arg: "X", initial: "0", group: groupMachine, help: "reasoning first: a share below 1, or tokens",
			check: between(0, 1_000_000, func(c *Config) float64 { return c.Sim.Reasoning }), field: func(c *Config) any { return &c.Sim.Reasoning }},
		{key: "sim.faults", arg: "LIST", group: groupMachine, help: "faults to inject: 429=0.1,clump=8,…",
			field: func(c *Config) any { return &c.Sim.Faults }},
		{key: "sim.scenario", arg: "NAME", group: groupMachine, help: "incident to play; list shows them",
			field: func(c *Config) any { return &c.Sim.Scenario }},
		{key: "sim.seed", arg: "N", initial: "0", group: groupMachine, help: "seed of words, lengths and faults",
			field: func(c *Config) any { return &c.Sim.Seed }},
	}
}
