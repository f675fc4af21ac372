package config

import "context"

// benchCommand is one load without a screen, and a summary.
func benchCommand() command {
	return command{
		name:  "bench",
		args:  "[URL]",
		short: "One load, no screen; a summary at the end",
		long: "One load, no screen; a summary at the end. Exits with 1 if nothing succeeded\n" +
			"or an SLO was missed.",
		example: "  sonde bench gpu-box:8000 -c 16 --duration 60s\n" +
			"  sonde bench https://host/v1 --requests 200 --warmup 5 --out run.json\n" +
			"  sonde bench @lab --rate 4 --slo ttft_p95=2s,tpot_p95=40ms,success=99.9",
		groups: []string{groupTarget, groupLoad, groupAmount, groupSources, groupRecord, groupReport, groupScreen, groupMachine, groupFile},
		own:    amountSettings(),
		common: []string{"concurrency", "rate", "input", "output", "workload", "requests", "duration", "warmup", "model", "api-key", "slo", "format", "out"},
		check:  checkBench,
		action: func(a Actions) func(context.Context, Config) error { return a.Bench },
	}
}

func amountSettings() []setting {
	return []setting{
		{key: "requests", arg: "N", initial: "0", group: groupAmount, help: "end after this many requests",
			check: between(0, 1_000_000_000, func(c *Config) int { return c.Requests }), field: func(c *Config) any { return &c.Requests }},
		{key: "duration", arg: "D", initial: "30s", group: groupAmount, help: "end after this long, or --requests",
			check: checkDuration, field: func(c *Config) any { return &c.Duration }},
		{key: "warmup", arg: "N|D", initial: "0", group: groupAmount, help: "requests or time before measuring",
			check: checkWarmup, field: func(c *Config) any { return &c.Warmup }},
	}
}

func checkDuration(c *Config) string {
	if c.Duration < 0 {
		return "must be longer than 0, such as 30s"
	}
	if c.Duration == 0 && c.Requests == 0 {
		return "the run would never end: give a time such as 30s, or --requests"
	}
	return ""
}

func checkWarmup(c *Config) string {
	if c.Warmup.Requests < 0 || c.Warmup.Duration < 0 {
		return "must not be negative"
	}
	return ""
}

func checkBench(r *resolved) error {
	c := &r.config
	if c.Concurrency == 0 {
		return r.fail("concurrency", "must be at least 1, a benchmark without load measures nothing")
	}
	if c.Out != "" && c.Out == c.Record {
		return r.fail("out", "must not be the file of --record")
	}
	return nil
}
