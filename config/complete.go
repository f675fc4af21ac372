package config

import (
	"errors"

	"github.com/spf13/cobra"
)

// addCompletion adds cobra's command for shell scripts, which by itself takes an
// unknown shell for a wish for help.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd("completion")
	for _, cc := range root.Commands() {
		if cc.Name() != "completion" {
			continue
		}
		cc.Short = "Print a completion script for a shell"
		cc.Args = cobra.ArbitraryArgs
		cc.RunE = func(cc *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("completion is for bash, zsh, fish or powershell")
			}
			return cc.Help()
		}
	}
}

// completes tells whether a shell asks for completions, which offer every flag.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completeValues offers the setting's choices to shells; only settings that name
// files are completed with files.
func completeValues(cc *cobra.Command, s setting) {
	if s.arg == "FILE" {
		return
	}
	offered := s.choices
	if s.offered != nil {
		offered = s.offered
	}
	// It fails only for a flag that is not declared.
	_ = cc.RegisterFlagCompletionFunc(s.flagName(), cobra.FixedCompletions(offered, cobra.ShellCompDirectiveNoFileComp))
}
