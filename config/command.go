package config

import (
	"context"
	"slices"
)

// Actions are what the commands do.
type Actions struct {
	Live, Bench, Sweep, Sim, Doctor, Plan, Replay func(context.Context, Config) error
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
	check   func(*resolved) error
	action  func(Actions) func(context.Context, Config) error
}

// commands is the tree, the root first.
func commands() []command {
	return []command{liveCommand(), benchCommand(), sweepCommand(), simCommand(), planCommand(), replayCommand(), doctorCommand()}
}

// settings are the rows of the table that the command takes.
func (c command) settings() []setting {
	return slices.DeleteFunc(table(), func(s setting) bool { return !slices.Contains(c.groups, s.group) })
}
