package config

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sonde/probe/slo"
)

// Actions are what the commands do.
type Actions struct {
	Live, Bench, Sweep, Sim, Doctor, Plan, Replay func(context.Context, Config) error

	DoctorServer func() error // the scripted server of doctor --calibrate
}

// command is one command of the tree: its words, its settings and its action.
type command struct {
	name    string // "" is the root
	args    string // what may follow the name
	takes   string // key of the setting that it is; "" is the URL, or @PROFILE
	short   string
	long    string
	example string
	groups  []string  // settings that it takes
	own     []setting // those of them that it brings along
	common  []string  // keys shown in the short help
	formats []string  // those that it can write; nil is all
	check   func(*resolved) error
	action  func(Actions) func(context.Context, Config) error
}

// commands is the tree, the root first.
func commands() []command {
	return []command{liveCommand(), benchCommand(), sweepCommand(), simCommand(), planCommand(), replayCommand(), doctorCommand()}
}

// settings are the rows of the table that the command takes.
func (c command) settings() []setting {
	rows := slices.DeleteFunc(table(), func(s setting) bool { return !slices.Contains(c.groups, s.group) })
	for i := range rows {
		if rows[i].key == "format" && c.formats != nil {
			rows[i].help, rows[i].offered = oneOf(c.formats)+" (automatic)", c.formats
		}
	}
	return rows
}

// checkFormat refuses a format that the command cannot write. One that is not from the
// command line is meant for other commands.
func (r *resolved) checkFormat() error {
	c, known := &r.config, r.command.formats
	if c.Format == "" || slices.Contains(known, c.Format) {
		return nil
	}
	if r.origins["format"].rank == rankFlag {
		return r.fail("format", "must be "+oneOf(known)+" for sonde "+r.command.name)
	}
	c.Format = ""
	return nil
}

// liveCommand is the root: the live screen.
func liveCommand() command {
	return command{
		args:  "[URL]",
		short: "An oscilloscope for LLM inference",
		long: "An oscilloscope for LLM inference: sends load to an OpenAI-compatible endpoint\n" +
			"and charts every token. Without a URL it runs an embedded engine.",
		example: "  sonde                                # the embedded engine\n" +
			"  sonde gpu-box:8000 -c 8 --workload rag\n" +
			"  sonde @lab --watch                   # [profile.lab], without load\n" +
			"  sonde --print-config > config.toml   # every setting, as a file",
		groups: []string{groupTarget, groupLoad, groupSources, groupRecord, groupScreen, groupLive, groupMachine, groupFile},
		own: []setting{
			{key: "watch", group: groupLive, help: "send no load, only read engine and GPU",
				field: func(c *Config) any { return &c.Watch }},
		},
		common: []string{"concurrency", "rate", "input", "output", "workload", "model", "api-key", "slo", "watch", "metrics", "gpu"},
		action: func(a Actions) func(context.Context, Config) error { return a.Live },
	}
}

// Replay holds the settings of `sonde replay`.
type Replay struct {
	File  string        // "" if none was named
	Speed float64       // seconds of the recording in one second
	At    time.Duration // where to begin, since the session began; 0 is the beginning
	SLO   []slo.Target  // none: those of the recording
}

const groupReplay = "replay"

// replayCommand shows a recording.
func replayCommand() command {
	return command{
		name:  "replay",
		args:  "FILE",
		takes: "replay.file",
		short: "Play back a recording on the live screen",
		long: "Play back a file written by --record on the live screen. The keys , . < > home\n" +
			"end seek, { } change the speed, space pauses.",
		example: "  sonde bench gpu-box:8000 -c 16 --record run.jsonl\n" +
			"  sonde replay run.jsonl\n" +
			"  sonde replay run.jsonl --speed 4 --at 10m",
		groups: []string{groupReplay, groupScreen, groupFile},
		own: []setting{
			{key: "replay.file", arg: "FILE", group: groupReplay, noFlag: true, noFile: true, help: "file written by --record",
				field: func(c *Config) any { return &c.Replay.File }},
			{key: "replay.speed", arg: "X", initial: "1", group: groupReplay, help: "playback speed, times real time",
				check: between(0.125, 64, func(c *Config) float64 { return c.Replay.Speed }), field: func(c *Config) any { return &c.Replay.Speed }},
			{key: "replay.at", arg: "D", initial: "0s", group: groupReplay, noFile: true, help: "start at this time into the recording",
				check: checkReplayAt, field: func(c *Config) any { return &c.Replay.At }},
			{key: "replay.slo", arg: "LIST", group: groupReplay, noFile: true, help: "SLOs (those of the recording)",
				field: func(c *Config) any { return &c.Replay.SLO }},
		},
		common: []string{"replay.speed", "replay.at", "replay.slo", "ascii", "color"},
		action: func(a Actions) func(context.Context, Config) error { return a.Replay },
	}
}

func checkReplayAt(c *Config) string {
	if c.Replay.At < 0 {
		return "must not be negative"
	}
	return ""
}

// doctorCommand checks what can be measured, and how accurately.
func doctorCommand() command {
	return command{
		name:  "doctor",
		args:  "[URL]",
		short: "Check what can be measured from here, and how accurately",
		long: "Check what can be measured from here, what cannot, and how to enable it: this\n" +
			"machine, the endpoint, its engine and GPUs. Sends one request of a few tokens.\n" +
			"Exits with 1 if something required is missing.",
		example: "  sonde doctor                         # this machine only\n" +
			"  sonde doctor gpu-box:8000 --api-key KEY\n" +
			"  sonde doctor --calibrate             # sonde's own error, in a minute",
		groups: []string{groupDoctor, groupTarget, groupSources, groupLive, groupReport, groupFile},
		own: []setting{
			{key: "doctor.calibrate", group: groupDoctor, noFile: true, help: "measure sonde's own error on this machine",
				field: func(c *Config) any { return &c.Calibrate }},
		},
		common:  []string{"doctor.calibrate", "watch", "model", "api-key", "metrics", "gpu", "insecure", "ca", "format"},
		formats: []string{"table", "json", "md"},
		check:   checkDoctor,
		action:  func(a Actions) func(context.Context, Config) error { return a.Doctor },
	}
}

const groupDoctor = "doctor"

func checkDoctor(r *resolved) error {
	c := &r.config
	if c.Calibrate && r.origins["url"].rank == rankFlag {
		return r.fail("url", "--calibrate tests this machine: omit the URL")
	}
	return r.checkFormat()
}

// doctorServerCommand is the process that `sonde doctor --calibrate` starts and talks to
// over a pipe: its own clock and processor time make it an independent witness.
func doctorServerCommand(t *tree) *cobra.Command {
	return &cobra.Command{
		Use:    "testserver",
		Short:  "Serve the scripted answers of doctor --calibrate (it starts this by itself)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE:   func(*cobra.Command, []string) error { return failed(t.actions.DoctorServer()) },
	}
}
