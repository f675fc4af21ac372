package config

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// argument reads what follows the command's name: an address, which it returns, or
// @NAME, which stands for --profile NAME. Complaints do not repeat the arguments:
// a secret may have slipped in. isHost reports whether a name is that of a host.
func (c command) argument(flags *pflag.FlagSet, args []string, isHost func(string) bool) (address string, err error) {
	help := strings.TrimSpace("sonde "+c.name) + " --help"
	if c.name == "" && len(args) > 0 {
		if err := unknownCommand(args[0], isHost); err != nil {
			return "", err
		}
	}
	switch {
	case len(args) == 0:
		return "", nil
	case c.args == "":
		return "", fmt.Errorf("%s takes flags only, no arguments (%s)", c.name, help)
	case len(args) > 1:
		return "", fmt.Errorf("expected one %s, got %d (flags start with dashes: %s)", strings.Trim(c.args, "[]"), len(args), help)
	case c.takes != "":
		return args[0], nil
	case args[0] == "":
		return "", errors.New("the URL is empty: omit it to use the embedded engine")
	}
	profile, isProfile := strings.CutPrefix(args[0], "@")
	if !isProfile {
		return args[0], nil
	}
	if profile == "" {
		return "", errors.New("@ needs the name of a profile, such as @lab for [profile.lab]")
	}
	chosen := flags.Lookup("profile")
	if chosen.Changed && chosen.Value.String() != profile {
		return "", fmt.Errorf("@%s and --profile name different profiles: omit one of them", profile)
	}
	return "", flags.Set("profile", profile)
}

// commandWord is what may be a command's name, and a host's as well.
var commandWord = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// longestShown bounds the words that a complaint repeats: a key is longer.
const longestShown = 15

// unknownCommand complains about a word that is nearly a command, or that is
// neither an address nor the name of a host.
func unknownCommand(word string, isHost func(string) bool) error {
	if !commandWord.MatchString(word) || word == "localhost" {
		return nil
	}
	var names []string
	for _, c := range commands[1:] {
		names = append(names, c.name)
	}
	if near := nearest(word, names); near != "" {
		return fmt.Errorf("unknown command '%s': did you mean '%s'? (to use a host of that name: http://%[1]s)", word, near)
	}
	switch {
	case isHost(word):
		return nil
	case len(word) > longestShown:
		return fmt.Errorf("unknown command: must be %s (to use a host of that name: http://NAME)", oneOf(names))
	}
	return fmt.Errorf("unknown command '%s': must be %s (to use a host of that name: http://%[1]s)", word, oneOf(names))
}

// lookupTimeout is how long a name server may think about a lone word.
const lookupTimeout = 2 * time.Second

// resolves reports whether this machine knows a host of that name.
func resolves(ctx context.Context) func(host string) bool {
	return func(host string) bool {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		addresses, err := net.DefaultResolver.LookupHost(ctx, host)
		return err == nil && len(addresses) > 0
	}
}

// didYouMean is ": did you mean 'x'?" if one of the known names is near, else "".
func didYouMean(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf(": did you mean '%s'?", near)
	}
	return ""
}

// nearest is the known name that a slip of the fingers may have turned into name,
// "" if none is near enough.
func nearest(name string, known []string) string {
	plain := func(s string) []rune { return []rune(strings.ReplaceAll(strings.ToLower(s), "_", "-")) }
	best, least := "", max(1, min(3, len(name)/3))+1
	for _, k := range known {
		if d := editDistance(plain(name), plain(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours
// (the restricted Damerau-Levenshtein distance).
func editDistance(a, b []rune) int {
	var before, above []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && slices.Equal(a[i-1:i+1], []rune{b[j], b[j-1]}) {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
