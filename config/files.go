package config

import (
	"errors"
	"slices"

	"sonde/probe/compare"
)

// Compare holds the settings of `sonde compare`.
type Compare struct {
	Before, After []string // files of results
	FailIf        []compare.Condition
}

// Merge holds the settings of `sonde merge`.
type Merge struct {
	Files []string
	Force bool // also what is not of one test
}

func mergeSettings(c *Config) []setting {
	return in(groupMerge, []setting{
		{key: "merge.force", noFile: true, help: "also what is not of one test", field: &c.Merge.Force},
	})
}

// mergeFiles takes all files.
func mergeFiles(c *Config, w words) error {
	c.Merge.Files = w.all
	return nil
}

func compareSettings(c *Config) []setting {
	return in(groupCompare, []setting{
		{key: "compare.fail-if", arg: "LIST", noFile: true, help: "exit with 1 if, such as ttft_p95>+10%", field: &c.Compare.FailIf},
	})
}

// words are the arguments behind a command's name.
type words struct {
	all  []string
	dash int // how many of them stand before "--"; −1 if there is none
}

// compareFiles splits the files into the two sides.
func compareFiles(c *Config, w words) error {
	k := &c.Compare
	switch {
	case w.dash >= 0:
		k.Before, k.After = w.all[:w.dash], w.all[w.dash:]
	case len(w.all) == 2:
		k.Before, k.After = w.all[:1], w.all[1:]
	case len(w.all) > 2:
		return errors.New("put -- between the runs before and those after: sonde compare a1.json a2.json -- b1.json b2.json")
	}
	if slices.ContainsFunc(k.After, isFlag) {
		return errors.New("flags come before the --: sonde compare --format md a1.json -- b1.json")
	}
	return nil
}

func isFlag(arg string) bool { return len(arg) > 2 && arg[:2] == "--" }
