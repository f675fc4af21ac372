package config

import "context"

// liveCommand is the root: the live screen.
func liveCommand() command {
	return command{
		args:  "[URL]",
		short: "An oscilloscope for LLM inference",
		long: "An oscilloscope for LLM inference: loads an OpenAI-compatible endpoint and\n" +
			"charts every token. Without a URL it runs an engine of its own.",
		example: "  sonde                                # the embedded engine\n" +
			"  sonde gpu-box:8000 -c 8 --workload rag\n" +
			"  sonde @lab --watch                   # [profile.lab], without load\n" +
			"  sonde --print-config > config.toml   # every setting, as a file",
		groups: []string{groupTarget, groupLoad, groupSources, groupRecord, groupScreen, groupLive, groupMachine, groupFile},
		own: []setting{
			{key: "watch", group: groupLive, help: "send nothing, read the engine and the GPU",
				field: func(c *Config) any { return &c.Watch }},
		},
		common: []string{"concurrency", "rate", "input", "output", "workload", "model", "api-key", "slo", "watch", "metrics", "gpu"},
		action: func(a Actions) func(context.Context, Config) error { return a.Live },
	}
}
