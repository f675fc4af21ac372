package config

import (
	"slices"

	"sonde/ui/theme"
)

// endpointSettings say what is measured, with which load, and where its readings come from.
func endpointSettings(c *Config) []setting {
	return slices.Concat(
		in(groupTarget, []setting{
			{key: "url", arg: "URL", noFlag: true, check: completed(&c.URL), help: "endpoint; omit for the embedded engine", field: &c.URL},
			{key: "model", arg: "NAME", help: "model name (first one for chat)", check: c.checkModel, field: &c.Model},
			{key: "api-key", arg: "KEY", help: "API key, or $OPENAI_API_KEY", check: matches(&c.APIKey, printable, "must contain only printable ASCII characters"), secret: true, field: &c.APIKey},
			{key: "api-key-env", arg: "VAR", initial: openAIKey, help: "variable holding the key", field: &c.APIKeyEnv},
			{key: "header", arg: "K:V", help: "extra header, repeatable", check: c.checkHeaders, secret: true, field: &c.Headers},
			{key: "api", arg: "NAME", initial: "chat", help: "chat or completions", choices: []string{"chat", "completions"}, field: &c.API},
			{key: "insecure", help: "accept any TLS certificate", field: &c.Insecure},
			{key: "ca", arg: "FILE", help: "extra CA certificates (PEM)", check: c.checkCA, field: &c.CA},
			{key: "cert", arg: "FILE", help: "client certificate (PEM)", check: readable(&c.Cert), field: &c.Cert},
			{key: "key", arg: "FILE", help: "its key (PEM), if not in --cert", check: readable(&c.Key), secret: true, field: &c.Key},
		}),
		in(groupLoad, []setting{
			{key: "max-concurrency", arg: "N", initial: "256", help: "safety cap on streams", check: between(&c.MaxConcurrency, 1, 100_000), field: &c.MaxConcurrency},
			{key: "concurrency", short: "c", arg: "N", initial: "1", help: "streams in flight; a cap with --rate", check: c.checkConcurrency, field: &c.Concurrency},
			{key: "rate", arg: "R", initial: "0", help: "requests per second, or 1..20/10m", field: &c.Rate},
			{key: "arrivals", arg: "NAME", initial: "poisson", help: "poisson, constant or gamma:CV", choices: []string{"poisson", "constant", "gamma:2"}, field: &c.Arrivals},
			{key: "input", short: "i", arg: "N", initial: "256", help: "prompt tokens: N, N±M, N..M", check: between(&c.Input.Mean, 1, 10_000_000), field: &c.Input},
			{key: "output", short: "o", arg: "N", initial: "128", help: "answer tokens, or lognormal:N,S", check: between(&c.Output.Mean, 1, 1_000_000), field: &c.Output},
			{key: "workload", arg: "NAME", initial: "chat", help: "both lengths: " + shortWorkloads, choices: workloadNames(), field: &c.Workload},
			{key: "prompts", arg: "FILE", help: "prompts from a JSONL or text file", check: readable(&c.Prompts), field: &c.Prompts},
			{key: "turns", arg: "N", initial: "1", help: "user messages of a conversation", check: c.checkTurns, field: &c.Turns},
			{key: "think", arg: "D", initial: "0s", help: "pause between turns, ±20 %", check: c.checkThink, field: &c.Think},
			{key: "prefix", arg: "NAME", initial: "unique", help: "prompts: unique, shared or same", choices: []string{"unique", "shared", "same"}, field: &c.Prefix},
			{key: "seed", arg: "N", help: "reproducible prompts and arrivals (random)", field: &c.Seed},
			{key: "idle-timeout", arg: "D", initial: "60s", help: "longest wait for data", check: c.checkIdleTimeout, field: &c.IdleTimeout},
			{key: "max-tokens-total", arg: "N", initial: "0", help: "safety cap on all tokens (none)",
				check: between(&c.MaxTokensTotal, 0, 1<<62), field: &c.MaxTokensTotal},
			{key: "slo", arg: "LIST", help: "SLOs, such as ttft_p95=2s,success=99.9", field: &c.SLO},
		}),
		in(groupSources, []setting{
			{key: "metrics", arg: "URL", help: "engine metrics page, or off (detected)", check: c.checkMetrics, field: &c.Metrics},
			{key: "gpu", arg: "SOURCE", initial: "auto", help: "auto, nvml, off, ssh[://HOST] or URL", check: c.checkGPU, field: &c.GPU},
			{key: "prometheus", arg: "URL", help: "Prometheus server for engine and GPU", check: completed(&c.Prometheus), field: &c.Prometheus},
			{key: "selector", arg: "LIST", help: "its series: job=\"vllm\",namespace=\"x\"", check: c.checkSelector, field: &c.Selector},
			{key: "roofline", arg: "MODEL@GPU", help: "for the lower bounds (detected)",
				check: matches(&c.Roofline, rooflineForm, "must be MODEL@GPU, such as Llama-3.1-8B@H100 or path/to/config.json@4xH100"), field: &c.Roofline},
		}),
	)
}

// formats are what a summary can be written in; "" is automatic.
var formats = []string{"", "table", "json", "csv", "md", "vllm"}

// programSettings say what a command does with what it measures, and for how long it runs.
func programSettings(c *Config) []setting {
	return slices.Concat(
		in(groupRecord, []setting{
			{key: "record", arg: "FILE", help: "record the run for sonde replay", check: c.checkRecord, field: &c.Record},
		}),
		in(groupReport, []setting{
			{key: "format", arg: "NAME", help: oneOf(formats) + " (automatic)", choices: formats, field: &c.Format},
			{key: "out", arg: "FILE", help: "write the summary to a file", check: writable(&c.Out), field: &c.Out},
		}),
		in(groupScreen, []setting{
			{key: "ascii", help: "draw with ASCII characters only", field: &c.ASCII},
			{key: "color", arg: "WHEN", initial: "auto", help: "auto, always or never", choices: []string{"auto", "always", "never"}, field: &c.Color},
			{key: "theme", arg: "NAME|FILE", initial: "default", help: "high-contrast, light, mono, FILE", choices: theme.Names, field: &c.Theme},
		}),
		in(groupAgainst, []setting{
			{key: "against", arg: "FILE", noFile: true, help: "show another run behind this one", check: readable(&c.Against), field: &c.Against},
		}),
		in(groupListen, []setting{
			{key: "listen", arg: "ADDRESS", help: "serve /metrics: 9898 here only, :9898 to all", check: listens(&c.Listen), field: &c.Listen},
		}),
		in(groupFile, []setting{
			{key: "config", arg: "FILE", noFile: true, help: "settings file (sonde/config.toml)", field: &c.File},
			{key: "profile", arg: "NAME", noFile: true, help: "[profile.NAME] of that file, also @NAME", field: &c.Profile},
		}),
		in(groupLive, []setting{
			{key: "watch", help: "send no load, only read engine and GPU", field: &c.Watch},
		}),
		in(groupAmount, []setting{
			{key: "requests", arg: "N", initial: "0", help: "stop after this many requests", check: between(&c.Requests, 0, 1_000_000_000), field: &c.Requests},
			{key: "duration", arg: "D", initial: "30s", help: "stop after this time, or --requests", check: c.checkDuration, field: &c.Duration},
			{key: "warmup", arg: "N|D", initial: "0", help: "requests or time before measuring", field: &c.Warmup},
		}),
		in(groupSweep, []setting{
			{key: "levels", arg: "LIST", initial: "auto", help: "1,4,8 streams, 1/s,2/s, or auto", check: c.checkLevels, field: &c.Sweep.Levels},
			{key: "per-level", arg: "D", initial: "0s", help: "longest time per level (automatic)", field: &c.Sweep.PerLevel},
		}),
		in(groupReplay, []setting{
			{key: "replay.file", arg: "FILE", noFlag: true, noFile: true, help: "file written by --record", field: &c.Replay.File},
			{key: "replay.speed", arg: "X", initial: "1", help: "playback speed, times real time", check: between(&c.Replay.Speed, 0.125, 64), field: &c.Replay.Speed},
			{key: "replay.at", arg: "D", initial: "0s", noFile: true, help: "start at this time into the recording", field: &c.Replay.At},
			{key: "replay.slo", arg: "LIST", noFile: true, help: "SLOs (those of the recording)", field: &c.Replay.SLO},
		}),
		in(groupDoctor, []setting{
			{key: "doctor.calibrate", noFile: true, help: "measure sonde's own error on this machine", field: &c.Calibrate},
		}),
	)
}

// simSettings are flags of `sonde sim` only; the file and the environment also set the machine of
// the engine that the other commands embed.
func simSettings(c *Config) []setting {
	return slices.Concat(
		in(groupServe, []setting{
			{key: "sim.listen", arg: "HOST:PORT", initial: "127.0.0.1:8000", help: "address to serve on", check: listensAt(&c.Sim.Listen), field: &c.Sim.Listen},
		}),
		in(groupMachine, []setting{
			{key: "sim.model", arg: "NAME", help: "model to simulate (automatic)", field: &c.Sim.Model},
			{key: "sim.gpu", arg: "NAME", help: "GPU to simulate (automatic)", field: &c.Sim.GPU},
			{key: "sim.max-seqs", arg: "N", initial: "0", help: "most sequences running at once (automatic)",
				check: between(&c.Sim.MaxSeqs, 0, 1_000_000), field: &c.Sim.MaxSeqs},
			{key: "sim.token-budget", arg: "N", initial: "0", help: "tokens per iteration (automatic)",
				check: between(&c.Sim.TokenBudget, 0, 100_000_000), field: &c.Sim.TokenBudget},
			{key: "sim.kv-gb", arg: "GB", initial: "0", help: "KV cache size (automatic)", check: between(&c.Sim.KVGB, 0, 1_000_000), field: &c.Sim.KVGB},
			{key: "sim.speed", arg: "X", initial: "1", help: "times real time", check: between(&c.Sim.Speed, 0.001, 1000), field: &c.Sim.Speed},
			{key: "sim.tp", arg: "N", initial: "0", help: "GPUs that share the model; 0: as few as fit it", check: between(&c.Sim.TP, 0, 64), field: &c.Sim.TP},
			{key: "sim.dtype", arg: "TYPE", help: "weights: bf16, fp8, int4", field: &c.Sim.Dtype},
			{key: "sim.kv-dtype", arg: "TYPE", help: "KV cache: auto, fp8", field: &c.Sim.KVDtype},
			{key: "sim.max-model-len", arg: "N", initial: "0", help: "prompt and answer, tokens (automatic)",
				check: between(&c.Sim.MaxModelLen, 0, 100_000_000), field: &c.Sim.MaxModelLen},
			{key: "sim.block-size", arg: "N", initial: "0", help: "tokens in a KV block (16)", check: between(&c.Sim.BlockTokens, 0, 1_000_000), field: &c.Sim.BlockTokens},
			{key: "sim.unchunked", help: "no chunked prefill", field: &c.Sim.Unchunked},
			{key: "sim.no-prefix-cache", help: "no prefix caching", field: &c.Sim.NoPrefixCache},
			{key: "sim.spec-tokens", arg: "N", initial: "0", help: "draft tokens of speculative decoding",
				check: between(&c.Sim.SpecTokens, 0, 1000), field: &c.Sim.SpecTokens},
			{key: "sim.spec-acceptance", arg: "SHARE", initial: "0", help: "share of drafts accepted (0.7)",
				check: between(&c.Sim.SpecAcceptance, 0, 1), field: &c.Sim.SpecAcceptance},
			{key: "sim.disaggregated", help: "separate GPUs for prefill", field: &c.Sim.Disaggregated},
			{key: "sim.transfer-gbs", arg: "GB/S", initial: "0", help: "bandwidth of the KV link (25)",
				check: between(&c.Sim.TransferGBs, 0, 1_000_000), field: &c.Sim.TransferGBs},
			{key: "sim.reasoning", arg: "X", initial: "0", help: "reasoning first: a share below 1, or tokens",
				check: between(&c.Sim.Reasoning, 0, 1_000_000), field: &c.Sim.Reasoning},
			{key: "sim.faults", arg: "LIST", help: "faults to inject: 429=0.1,clump=8,…", field: &c.Sim.Inject},
			{key: "sim.scenario", arg: "NAME", help: "incident to play; list shows them", field: &c.Sim.Scenario},
			{key: "sim.seed", arg: "N", initial: "0", help: "seed of words, lengths and faults", field: &c.Sim.Seed},
		}),
	)
}
