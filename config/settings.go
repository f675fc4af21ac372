package config

import (
	"strings"
)

// setting is one row of the table that flags, environment names, file keys,
// --print-config and hints are made from.
type setting struct {
	key     string // in the file; "table.key" is a flag of the command `table` only
	short   string // one-letter flag
	arg     string // stands for the value in help; "" for a switch
	initial string // default, written as on the command line
	group   string // commands take settings by group
	help    string
	choices []string             // the only values allowed
	offered []string             // those of them that suit the command; nil is all
	field   func(*Config) any    // where the value goes
	check   func(*Config) string // what it must be, if it is not; "" if it is
	secret  bool                 // never repeated in a message
	noFile  bool                 // makes no sense inside the file
	noFlag  bool                 // an argument, not a flag
}

// flagName is the setting's flag, without the dashes.
func (s setting) flagName() string {
	return s.key[strings.LastIndexByte(s.key, '.')+1:]
}

// flagOf reports whether the setting is a flag of the command.
func (s setting) flagOf(command string) bool {
	table, _, found := strings.Cut(s.key, ".")
	return !s.noFlag && (!found || table == command)
}

// envName is the environment variable of the setting.
func (s setting) envName() string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(s.key))
}

const envPrefix = "SONDE_"

// Groups of settings.
const (
	groupTarget  = "target"
	groupLoad    = "load"
	groupAmount  = "amount"
	groupSources = "readings"
	groupRecord  = "record"
	groupReport  = "report"
	groupScreen  = "screen"
	groupLive    = "live screen"
	groupServe   = "serve"
	groupMachine = "embedded engine"
	groupFile    = "settings"
)

// table is every setting of every command, shared ones first.
func table() []setting {
	rows := shared()
	for _, c := range commands() {
		rows = append(rows, c.own...)
	}
	return rows
}

// lookup finds a setting by its key.
func lookup(key string) (setting, bool) {
	for _, s := range table() {
		if s.key == key {
			return s, true
		}
	}
	return setting{}, false
}

// shared are the settings that several commands take.
func shared() []setting {
	var rows []setting
	for _, part := range [][]setting{
		targetSettings(), loadSettings(), sourceSettings(), outputSettings(), fileSettings(),
	} {
		rows = append(rows, part...)
	}
	return rows
}

func targetSettings() []setting {
	return []setting{
		{key: "url", arg: "URL", group: groupTarget, noFlag: true, check: checkURL,
			help: "endpoint; omit for the embedded engine", field: func(c *Config) any { return &c.URL }},
		{key: "model", arg: "NAME", group: groupTarget, help: "model name (first listed)",
			field: func(c *Config) any { return &c.Model }},
		{key: "api-key", arg: "KEY", group: groupTarget, help: "API key, or $OPENAI_API_KEY", check: checkAPIKey, secret: true,
			field: func(c *Config) any { return &c.APIKey }},
		{key: "api-key-env", arg: "VAR", initial: openAIKey, group: groupTarget, help: "variable holding the key",
			field: func(c *Config) any { return &c.APIKeyEnv }},
		{key: "header", arg: "K:V", group: groupTarget, help: "extra header, repeatable", check: checkHeaders, secret: true,
			field: func(c *Config) any { return &c.Headers }},
		{key: "api", arg: "NAME", initial: "chat", group: groupTarget, help: "chat or completions",
			choices: []string{"chat", "completions"}, field: func(c *Config) any { return &c.API }},
		{key: "insecure", group: groupTarget, help: "accept any TLS certificate",
			field: func(c *Config) any { return &c.Insecure }},
		{key: "ca", arg: "FILE", group: groupTarget, help: "extra CA certificates (PEM)", check: checkCA,
			field: func(c *Config) any { return &c.CA }},
	}
}

func loadSettings() []setting {
	return []setting{
		{key: "max-concurrency", arg: "N", initial: "256", group: groupLoad, help: "safety cap on streams",
			check: between(1, 100_000, func(c *Config) int { return c.MaxConcurrency }), field: func(c *Config) any { return &c.MaxConcurrency }},
		{key: "concurrency", short: "c", arg: "N", initial: "1", group: groupLoad, help: "streams in flight; a cap with --rate",
			check: checkConcurrency, field: func(c *Config) any { return &c.Concurrency }},
		{key: "rate", arg: "R", initial: "0", group: groupLoad, help: "requests per second, instead of -c",
			check: between(0, 100_000, func(c *Config) float64 { return c.Rate }), field: func(c *Config) any { return &c.Rate }},
		{key: "arrivals", arg: "NAME", initial: "poisson", group: groupLoad, help: "poisson or constant, with --rate",
			choices: []string{"poisson", "constant"}, field: func(c *Config) any { return &c.Arrivals }},
		{key: "input", short: "i", arg: "N", initial: "256", group: groupLoad, help: "prompt length, tokens",
			check: between(1, 10_000_000, func(c *Config) int { return c.Input }), field: func(c *Config) any { return &c.Input }},
		{key: "output", short: "o", arg: "N", initial: "128", group: groupLoad, help: "answer length, tokens",
			check: between(1, 1_000_000, func(c *Config) int { return c.Output }), field: func(c *Config) any { return &c.Output }},
		{key: "workload", arg: "NAME", initial: "chat", group: groupLoad, help: "both lengths: " + shortWorkloads,
			choices: workloadNames(), field: func(c *Config) any { return &c.Workload }},
		{key: "prompts", arg: "FILE", group: groupLoad, help: "prompts from a JSONL or text file", check: checkPrompts,
			field: func(c *Config) any { return &c.Prompts }},
		{key: "prefix", arg: "NAME", initial: "unique", group: groupLoad, help: "prompts: unique, shared or same",
			choices: []string{"unique", "shared", "same"}, field: func(c *Config) any { return &c.Prefix }},
		{key: "seed", arg: "N", group: groupLoad, help: "reproducible prompts and arrivals (random)",
			field: func(c *Config) any { return &c.Seed }},
		{key: "idle-timeout", arg: "D", initial: "60s", group: groupLoad, help: "longest wait for data",
			check: checkIdleTimeout, field: func(c *Config) any { return &c.IdleTimeout }},
		{key: "max-tokens-total", arg: "N", initial: "0", group: groupLoad, help: "safety cap on all tokens (none)",
			check: between(0, 1<<62, func(c *Config) int64 { return c.MaxTokensTotal }), field: func(c *Config) any { return &c.MaxTokensTotal }},
		{key: "slo", arg: "LIST", group: groupLoad, help: "SLOs, such as ttft_p95=2s,success=99.9",
			field: func(c *Config) any { return &c.SLO }},
	}
}

func sourceSettings() []setting {
	return []setting{
		{key: "metrics", arg: "URL", group: groupSources, help: "engine metrics page, or off (detected)", check: checkMetrics,
			field: func(c *Config) any { return &c.Metrics }},
		{key: "gpu", arg: "SOURCE", initial: "auto", group: groupSources, help: "auto, nvml, off or an exporter's URL", check: checkGPU,
			field: func(c *Config) any { return &c.GPU }},
		{key: "prometheus", arg: "URL", group: groupSources, help: "Prometheus server for engine and GPU", check: checkPrometheus,
			field: func(c *Config) any { return &c.Prometheus }},
		{key: "selector", arg: "LIST", group: groupSources, help: "its series: job=\"vllm\",namespace=\"x\"", check: checkSelector,
			field: func(c *Config) any { return &c.Selector }},
		{key: "roofline", arg: "MODEL@GPU", group: groupSources, help: "for the lower bounds (detected)", check: checkRoofline,
			field: func(c *Config) any { return &c.Roofline }},
	}
}

func outputSettings() []setting {
	return []setting{
		{key: "record", arg: "FILE", group: groupRecord, help: "record the run for sonde replay",
			check: checkRecord, field: func(c *Config) any { return &c.Record }},
		{key: "format", arg: "NAME", group: groupReport, help: "table, json, csv, md or vllm (automatic)",
			choices: []string{"", "table", "json", "csv", "md", "vllm"}, field: func(c *Config) any { return &c.Format }},
		{key: "out", arg: "FILE", group: groupReport, help: "write the summary to a file",
			check: writable(func(c *Config) string { return c.Out }), field: func(c *Config) any { return &c.Out }},
		{key: "ascii", group: groupScreen, help: "draw with ASCII characters only",
			field: func(c *Config) any { return &c.ASCII }},
		{key: "color", arg: "WHEN", initial: "auto", group: groupScreen, help: "auto, always or never",
			choices: []string{"auto", "always", "never"}, field: func(c *Config) any { return &c.Color }},
	}
}

func fileSettings() []setting {
	return []setting{
		{key: "config", arg: "FILE", group: groupFile, noFile: true, help: "settings file (sonde/config.toml)",
			field: func(c *Config) any { return &c.File }},
		{key: "profile", arg: "NAME", group: groupFile, noFile: true, help: "[profile.NAME] of that file, also @NAME",
			field: func(c *Config) any { return &c.Profile }},
	}
}
