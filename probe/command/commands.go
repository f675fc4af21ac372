// Package command is what each command of sonde does: it opens what config.Config describes, hands it to a
// reader (the screen, a report, a page of metrics), and closes it again.
//
//	screen.go      the live screen and replays
//	unattended.go  bench and sweep
//	canary.go      probes day and night
//	files.go       what follows from files and from arithmetic
//	serve.go       the embedded engine, and a worker
//	doctor.go      what can be measured from here
package command

import (
	"context"

	"sonde/config"
	"sonde/probe/doctor"
)

// program is what the commands know of the program.
type program struct{ version string }

// Actions are all commands by name. Version goes into recordings and metrics.
func Actions(version string) config.Actions {
	p := program{version: version}
	return config.Actions{
		"": p.live, "bench": p.benchLoad, "sweep": p.sweepLoads, "canary": p.watchOver,
		"replay": replay, "compare": compareRuns, "merge": mergeSummaries, "plan": plan,
		"sim": serve, "worker": work, "doctor": examine,
		config.ServerAction: func(context.Context, config.Config) error { return doctor.ServeScripted() },
	}
}
