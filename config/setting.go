package config

import "strings"

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

// flagOf tells whether the setting is a flag of the command.
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
