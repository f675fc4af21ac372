package config

import (
	"context"
	"slices"
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
			rows[i].help, rows[i].offered = oneOf(c.formats)+" (by output)", c.formats
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
