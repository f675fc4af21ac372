package config

import (
	"slices"
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
	choices []string      // the only values allowed of a text; of another field, those that shells offer
	field   any           // where the value goes: a pointer into the Config
	check   func() string // what the value must be, if it is not; "" if it is
	secret  bool          // never repeated in a message
	noFile  bool          // makes no sense inside the file
	noFlag  bool          // an argument, not a flag
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
	groupTarget   = "target"
	groupLoad     = "load"
	groupTrace    = "trace"
	groupAmount   = "amount"
	groupSources  = "readings"
	groupRecord   = "record"
	groupReport   = "report"
	groupScreen   = "screen"
	groupLive     = "live screen"
	groupServe    = "serve"
	groupMachine  = "embedded engine"
	groupFile     = "settings"
	groupSweep    = "sweep"
	groupPlan     = "plan"
	groupReplay   = "replay"
	groupDoctor   = "doctor"
	groupListen   = "metrics server"
	groupCanary   = "canary"
	groupWorkers  = "workers"
	groupOperator = "operator of workers"
	groupCompare  = "compare"
	groupMerge    = "merge"
	groupAgainst  = "other run"
)

// table is every setting of every command; their values are in c.
func table(c *Config) []setting {
	return slices.Concat(endpointSettings(c), traceSettings(c), programSettings(c), simSettings(c), planSettings(c), canarySettings(c), compareSettings(c), mergeSettings(c), workerSettings(c))
}

// in puts settings into a group.
func in(group string, rows []setting) []setting {
	for i := range rows {
		rows[i].group = group
	}
	return rows
}

// lookup finds a row by its key.
func lookup(rows []setting, key string) (s setting, found bool) {
	i := slices.IndexFunc(rows, func(s setting) bool { return s.key == key })
	if i < 0 {
		return setting{}, false
	}
	return rows[i], true
}
