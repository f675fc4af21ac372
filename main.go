// Command sonde is an oscilloscope for LLM inference in a terminal.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"sonde/config"
	"sonde/gpu/nvml"
	"sonde/probe/command"
)

// Set by the linker for releases.
var version, commit, date string

func main() {
	// A token costs about one allocation: collecting twice as often as usual is
	// hardly felt, and the tool stays small on the machine that it watches.
	debug.SetGCPercent(50)
	build := config.BuildInfo{Version: version, Commit: commit, Date: date, NVML: nvml.Built}
	os.Exit(config.Execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr, build, command.Actions(version)))
}
