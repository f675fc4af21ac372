package config

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Actions are what the commands do, by their names; the root's is "".
type Actions map[string]func(context.Context, Config) error

// ServerAction is the name of the hidden command that `sonde doctor --calibrate` starts and
// talks to over a pipe: its own clock and processor time make it an independent witness.
const ServerAction = "testserver"

// command is one command of the tree: its words and its settings.
type command struct {
	name    string                     // "" is the root
	args    string                     // what may follow the name
	takes   string                     // key of the setting that it is; "" is the URL, or @PROFILE
	many    bool                       // any number of targets may follow the name
	files   func(*Config, words) error // takes the files that follow the name; nil: none do
	short   string
	long    string
	example string
	groups  []string // settings that it takes
	common  []string // keys shown in the short help
	formats []string // those that it can write; nil is all of them
	check   func(*resolved) error
}

// commands is the tree, the root first.
var commands = []command{
	{
		args:  "[URL [URL]]",
		short: "An oscilloscope for LLM inference",
		long: "An oscilloscope for LLM inference: sends load to an OpenAI-compatible endpoint\n" +
			"and charts every token. Without a URL it runs an embedded engine.",
		example: "  sonde                                # the embedded engine\n" +
			"  sonde old-box:8000 new-box:8000 -c 8 # the same load for both\n" +
			"  sonde @lab --watch                   # [profile.lab], without load\n" +
			"  sonde --print-config > config.toml   # every setting, as a file",
		groups: []string{groupTarget, groupLoad, groupTrace, groupSources, groupRecord, groupScreen, groupAgainst, groupLive, groupListen, groupWorkers, groupOperator, groupMachine, groupFile},
		common: strings.Fields("concurrency rate input output model api-key slo"),
	},
	{
		name:  "bench",
		args:  "[URL]",
		short: "Run one load without a screen and print a summary",
		long: "Run one load without a screen and print a summary. Exits with 1 if no request\n" +
			"succeeded or an SLO was missed.",
		example: "  sonde bench gpu-box:8000 -c 16 --duration 60s\n" +
			"  sonde bench https://host/v1 --requests 200 --warmup 5 --out run.json\n" +
			"  sonde bench @lab --rate 4 --slo ttft_p95=2s,tpot_p95=40ms,success=99.9",
		groups: []string{groupTarget, groupLoad, groupTrace, groupAmount, groupSources, groupRecord, groupReport, groupScreen, groupListen, groupWorkers, groupOperator, groupMachine, groupFile},
		common: strings.Fields("concurrency rate input output workload trace requests duration warmup model api-key slo format out"),
		check:  checkLoad,
	},
	{
		name:  "sweep",
		args:  "[URL]",
		short: "Step up the load: the knee, and the largest load within the SLO",
		long: "Step up the load and print a table of levels, the knee and what limits it, and\n" +
			"the largest load that meets the SLO. Exits with 1 if no request succeeded or no\n" +
			"load meets the SLO.",
		example: "  sonde sweep gpu-box:8000 --slo ttft_p95=2s,tpot_p95=40ms\n" +
			"  sonde sweep @lab --levels 1,4,8,16,32,64 --per-level 30s --out sweep.json\n" +
			"  sonde sweep h:8000 --levels 1/s,2/s,4/s -o 512 --format md",
		groups:  []string{groupSweep, groupTarget, groupLoad, groupSources, groupRecord, groupReport, groupScreen, groupListen, groupWorkers, groupOperator, groupMachine, groupFile},
		common:  strings.Fields("levels per-level slo max-concurrency rate input output workload model api-key format out"),
		formats: []string{"", "table", "json", "csv", "md"},
		check:   checkSweep,
	},
	{
		name:  "canary",
		args:  "[URL…]",
		many:  true,
		short: "Probe endpoints with one small request every few seconds, forever",
		long: "Probe endpoints with one small request every few seconds, forever: a screen with\n" +
			"a row for each on a terminal, else a line for each change of state. --listen\n" +
			"serves metrics for Prometheus. A target is URL or @PROFILE, or either with\n" +
			"#MODEL. With --once, exits with 1 unless every target is well.",
		example: "  sonde canary gpu-1:8000 gpu-2:8000 @lab --listen :9898\n" +
			"  sonde canary gateway/v1#llama-8b gateway/v1#qwen-32b --budget 20k/h\n" +
			"  sonde canary --targets fleet.txt --slo ttft_p95=1s --format json\n" +
			"  sonde canary @lab --once || mail -s 'lab is down' oncall@example.org",
		groups:  []string{groupCanary, groupTarget, groupListen, groupReport, groupScreen, groupFile},
		common:  strings.Fields("canary.every canary.input canary.output canary.budget canary.timeout canary.slo canary.targets canary.once listen model api-key format"),
		formats: []string{"", "table", "json", "md"},
		check:   checkCanary,
	},
	{
		name:  "worker",
		args:  "[URL]",
		short: "Send a share of the load of an operator elsewhere",
		long: "Send a share of the load of an operator elsewhere: sonde, sonde bench or sonde\n" +
			"sweep with the same --nats and --run. The endpoint is the operator's unless a\n" +
			"URL is given; keys and certificates are the worker's own, and are sent only to\n" +
			"that URL. Runs until stopped.",
		example: "  sonde worker --nats 10.0.0.5:4222\n" +
			"  sonde bench h:8000 -c 2000 --max-concurrency 2000 --nats 10.0.0.5:4222\n" +
			"  sonde h:8000 --nats embedded         # serves NATS itself, on 127.0.0.1:4222",
		groups: []string{groupWorkers, groupTarget, groupFile},
		common: strings.Fields("nats run nats-creds api-key header insecure ca cert key"),
		check:  checkWorker,
	},
	{
		name:  "sim",
		short: "Serve the embedded engine for other tools",
		long: "Serve the embedded engine for other tools: an OpenAI API, engine metrics and a\n" +
			"GPU exporter page.",
		example: "  sonde sim\n" +
			"  sonde sim --listen 127.0.0.1:9000 --max-seqs 64 --kv-gb 8\n" +
			"  sonde sim --scenario overload\n" +
			"  curl -X PUT -d clump=8,slow=2 http://127.0.0.1:8000/sim/faults",
		groups: []string{groupServe, groupMachine, groupFile},
		common: strings.Fields("sim.listen sim.model sim.gpu sim.max-seqs sim.token-budget sim.kv-gb sim.speed sim.reasoning sim.faults sim.scenario"),
	},
	{
		name:  "plan",
		short: "Capacity arithmetic: QPS, lengths, latency → TPM, concurrency, KV",
		long: "Capacity arithmetic: from request rate, lengths and latency to RPM, TPM,\n" +
			"requests in flight and KV cache; which quota binds first; and, with a file from\n" +
			"sonde sweep, how many replicas. Sends nothing.",
		example: "  sonde plan --qps 4 --input 6k --output 1k --e2e 15s --headroom 50%\n" +
			"  sonde plan --input 4k --output 1k --limit rpm=1000,tpm=1M\n" +
			"  sonde plan --workload chat:qps=2,e2e=8s --workload rag:users=50,e2e=9s\n" +
			"  sonde plan --qps 40 --from sweep.json --slo ttft_p95=2s",
		groups: []string{groupPlan, groupReport, groupScreen, groupFile},
		common: strings.Fields("plan.qps plan.rpm plan.users plan.think plan.input plan.output plan.e2e plan.ttft plan.tpot " +
			"plan.workload plan.headroom plan.limit plan.model plan.from plan.slo format out"),
		formats: []string{"", "table", "json", "csv", "md"},
		check:   checkPlan,
	},
	{
		name:  "compare",
		args:  "BEFORE… [--] AFTER…",
		files: compareFiles,
		short: "Compare runs before and after a change: what differs, how surely",
		long: "Compare runs before and after a change: files of bench or sweep (--format json)\n" +
			"or recordings (--record). Repeat the runs, at least four on each side and in\n" +
			"turns: only then a difference can be told from chance. Exits with 1 if a\n" +
			"condition of --fail-if holds.",
		example: "  sonde compare before.json after.json\n" +
			"  sonde compare before?.json -- after?.json\n" +
			"  sonde compare --format md old-sweep*.json -- new-sweep*.json\n" +
			"  sonde compare --fail-if 'ttft_p95>+10%,error_share>+1point' a*.json -- b*.json",
		groups:  []string{groupCompare, groupReport, groupScreen, groupFile},
		common:  strings.Fields("compare.fail-if format out"),
		formats: []string{"", "table", "json", "csv", "md"},
	},
	{
		name:  "merge",
		args:  "FILE…",
		files: mergeFiles,
		short: "Add the summaries that several clients measured at the same time",
		long: "Add the summaries of one test that several clients measured at the same time\n" +
			"(sonde bench --format json): percentiles of all samples together, sums of rates\n" +
			"and counts, SLOs judged anew. The result is a summary again. Exits with 1 if no\n" +
			"request succeeded or an SLO was missed.",
		example: "  sonde merge client-*.json\n" +
			"  sonde merge client-*.json --format json --out all.json",
		groups: []string{groupMerge, groupReport, groupScreen, groupFile},
		common: strings.Fields("merge.force format out"),
	},
	{
		name:  "replay",
		args:  "FILE",
		takes: "replay.file",
		short: "Play back a recording on the live screen",
		long: "Play back a file written by --record on the live screen. The keys , . < > home\n" +
			"end seek, { } change the speed, space pauses.",
		example: "  sonde bench gpu-box:8000 -c 16 --record run.jsonl\n" +
			"  sonde replay run.jsonl\n" +
			"  sonde replay run.jsonl --speed 4 --at 10m\n" +
			"  sonde replay after.jsonl --against before.jsonl",
		groups: []string{groupReplay, groupAgainst, groupScreen, groupFile},
		common: strings.Fields("replay.speed replay.at replay.slo against ascii color"),
	},
	{
		name:  "doctor",
		args:  "[URL]",
		short: "Check what can be measured from here, and how accurately",
		long: "Check what can be measured from here, what cannot, and how to enable it: this\n" +
			"machine, the endpoint, its engine and GPUs. Sends one request of a few tokens.\n" +
			"Exits with 1 if something required is missing.",
		example: "  sonde doctor                         # this machine only\n" +
			"  sonde doctor gpu-box:8000 --api-key KEY\n" +
			"  sonde doctor --calibrate             # sonde's own error, in a minute",
		groups:  []string{groupDoctor, groupTarget, groupSources, groupLive, groupReport, groupFile},
		common:  strings.Fields("doctor.calibrate watch model api-key metrics gpu insecure ca format"),
		formats: []string{"", "table", "json", "md"},
		check:   checkDoctor,
	},
}

// settings are the rows of the table that the command takes.
func (c command) settings(values *Config) []setting {
	rows := slices.DeleteFunc(table(values), func(s setting) bool { return !slices.Contains(c.groups, s.group) })
	for i := range rows {
		if rows[i].key == "format" && c.formats != nil {
			rows[i].help, rows[i].choices = oneOf(c.formats)+" (automatic)", c.formats
		}
	}
	return rows
}

func serverCommand(t *tree) *cobra.Command {
	return &cobra.Command{
		Use:    ServerAction,
		Short:  "Serve the scripted answers of doctor --calibrate (it starts this by itself)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cc *cobra.Command, _ []string) error {
			return failed(t.actions[ServerAction](cc.Context(), Config{}))
		},
	}
}
