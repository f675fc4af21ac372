package config

import (
	"context"
	"time"
)

// Replay is what `sonde replay` is asked for.
type Replay struct {
	File  string        // "" if none was named
	Speed float64       // seconds of the recording in one second
	At    time.Duration // where to begin, since the session began; 0 is the beginning
	SLO   []SLO         // none: those of the recording
}

const groupReplay = "replay"

// replayCommand shows a recording.
func replayCommand() command {
	return command{
		name:  "replay",
		args:  "FILE",
		takes: "replay.file",
		short: "A recording, in the same screen",
		long: "A recording that --record wrote, in the same screen. The keys , . < > home end\n" +
			"move in it, { } change its speed, space stops it.",
		example: "  sonde bench gpu-box:8000 -c 16 --record run.jsonl\n" +
			"  sonde replay run.jsonl\n" +
			"  sonde replay run.jsonl --speed 4 --at 10m",
		groups: []string{groupReplay, groupScreen, groupFile},
		own: []setting{
			{key: "replay.file", arg: "FILE", group: groupReplay, noFlag: true, noFile: true, help: "what --record wrote",
				field: func(c *Config) any { return &c.Replay.File }},
			{key: "replay.speed", arg: "X", initial: "1", group: groupReplay, help: "times the pace of the recording",
				check: between(0.125, 64, func(c *Config) float64 { return c.Replay.Speed }), field: func(c *Config) any { return &c.Replay.Speed }},
			{key: "replay.at", arg: "D", initial: "0s", group: groupReplay, noFile: true, help: "begin so long after its start",
				check: checkReplayAt, field: func(c *Config) any { return &c.Replay.At }},
			{key: "replay.slo", arg: "LIST", group: groupReplay, noFile: true, help: "service levels (those of the recording)",
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
