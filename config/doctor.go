package config

import (
	"context"
	"github.com/spf13/cobra"
)

// doctorCommand says what can be seen from here, and how right it is.
func doctorCommand() command {
	return command{
		name:  "doctor",
		args:  "[URL]",
		short: "What can be seen from here, and how right it is",
		long: "What can be seen from here, what cannot, and how to switch it on: this machine,\n" +
			"the endpoint, its engine and GPUs. Sends one request of a few tokens. Exits with\n" +
			"1 if something is missing that measuring needs.",
		example: "  sonde doctor                         # this machine only\n" +
			"  sonde doctor gpu-box:8000 --api-key KEY\n" +
			"  sonde doctor --calibrate             # the error of sonde itself, in a minute",
		groups: []string{groupDoctor, groupTarget, groupSources, groupLive, groupReport, groupFile},
		own: []setting{
			{key: "doctor.calibrate", group: groupDoctor, noFile: true, help: "measure the error of sonde on this machine",
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
		return r.fail("url", "--calibrate is about this machine: leave the URL out")
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
