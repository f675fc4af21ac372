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
			"  sonde sim --listen 127.0.0.1:9000 --max-seqs 64 --kv-gb 8",
		groups: []string{groupServe, groupMachine, groupFile},
		own:    simSettings(),
		common: []string{"sim.listen", "sim.model", "sim.gpu", "sim.max-seqs", "sim.token-budget", "sim.kv-gb", "sim.faults", "sim.speed"},
		action: func(a Actions) func(context.Context, Config) error { return a.Sim },
	}
}

// simSettings are flags of `sonde sim` only; the file and the environment also set
// the machine of the engine that the other commands embed.
func simSettings() []setting {
	return []setting{
		{key: "sim.listen", arg: "HOST:PORT", initial: "127.0.0.1:8000", group: groupServe, help: "address to serve on",
			check: checkListen, field: func(c *Config) any { return &c.Sim.Listen }},
		{key: "sim.model", arg: "NAME", group: groupMachine, help: "shape of the model (own choice)",
			field: func(c *Config) any { return &c.Sim.Model }},
		{key: "sim.gpu", arg: "NAME", group: groupMachine, help: "the GPU that it is (own choice)",
			field: func(c *Config) any { return &c.Sim.GPU }},
		{key: "sim.max-seqs", arg: "N", initial: "0", group: groupMachine, help: "sequences that run at once (own choice)",
			check: between(0, 1_000_000, func(c *Config) int { return c.Sim.MaxSeqs }), field: func(c *Config) any { return &c.Sim.MaxSeqs }},
		{key: "sim.token-budget", arg: "N", initial: "0", group: groupMachine, help: "tokens per iteration (own choice)",
			check: between(0, 100_000_000, func(c *Config) int { return c.Sim.TokenBudget }), field: func(c *Config) any { return &c.Sim.TokenBudget }},
		{key: "sim.kv-gb", arg: "GB", initial: "0", group: groupMachine, help: "KV cache; 0 is what the GPU leaves",
			check: between(0, 1_000_000, func(c *Config) float64 { return c.Sim.KVGB }), field: func(c *Config) any { return &c.Sim.KVGB }},
		{key: "sim.faults", arg: "LIST", group: groupMachine, help: "what goes wrong: 429=0.1,cut=0.02,stall=1s/10s,…",
			field: func(c *Config) any { return &c.Sim.Faults }},
		{key: "sim.speed", arg: "X", initial: "1", group: groupMachine, help: "times real time",
			check: between(0.001, 1000, func(c *Config) float64 { return c.Sim.Speed }), field: func(c *Config) any { return &c.Sim.Speed }},
	}
}
