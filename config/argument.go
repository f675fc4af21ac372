package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// argument reads what follows the command's name: an address, which it returns, or
// @NAME, which stands for --profile NAME. Complaints do not repeat the arguments:
// a secret may have slipped in.
func (c command) argument(flags *pflag.FlagSet, args []string) (address string, err error) {
	help := strings.TrimSpace("sonde "+c.name) + " --help"
	switch {
	case len(args) == 0:
		return "", nil
	case c.args == "":
		return "", fmt.Errorf("%s takes flags only, no arguments (%s)", c.name, help)
	case len(args) > 1:
		return "", fmt.Errorf("there must be one URL, not %d (flags need dashes: %s)", len(args), help)
	case args[0] == "":
		return "", errors.New("the URL is empty: leave it out for the embedded engine")
	}
	profile, isProfile := strings.CutPrefix(args[0], "@")
	if !isProfile {
		if c.name == "" {
			err = unknownCommand(args[0])
		}
		return args[0], err
	}
	if profile == "" {
		return "", errors.New("@ needs the name of a profile, such as @lab for [profile.lab]")
	}
	chosen := flags.Lookup("profile")
	if chosen.Changed && chosen.Value.String() != profile {
		return "", fmt.Errorf("@%s and --profile name two profiles, leave one of them out", profile)
	}
	return "", flags.Set("profile", profile)
}

// unknownCommand complains about a word that is no address but nearly a command.
func unknownCommand(word string) error {
	if strings.ContainsAny(word, ".:/@") {
		return nil
	}
	var names []string
	for _, c := range commands()[1:] {
		names = append(names, c.name)
	}
	if near := nearest(word, names); near != "" {
		return fmt.Errorf("unknown command '%s': did you mean '%s'? (for a host of that name: http://%[1]s)", word, near)
	}
	return nil
}
