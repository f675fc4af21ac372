package config

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"charm.land/fang/v2"
	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// help shows a command's help: with colours on a terminal that wants them, else as
// plain text. Only the former asks the terminal for its background.
func (t *tree) help(cc *cobra.Command, _ []string) {
	if !colourful(t.stdout) {
		cc.Print(plainHelp(cc))
		return
	}
	root := cc.Root()
	path := strings.Fields(cc.CommandPath())[1:]
	root.SetArgs(append(path, "--help"))
	// fang replaces the help function by its own, and cannot fail at showing help.
	_ = fang.Execute(cc.Context(), root,
		fang.WithoutVersion(), fang.WithoutManpage(), fang.WithColorSchemeFunc(helpColours))
}

// helpColours leaves the examples without a background, which saves lines.
func helpColours(c lipgloss.LightDarkFunc) fang.ColorScheme {
	scheme := fang.DefaultColorScheme(c)
	scheme.Codeblock = lipgloss.NoColor{}
	return scheme
}

// colourful reports whether escape codes are welcome.
func colourful(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// plainHelp is cobra's own help text.
func plainHelp(cc *cobra.Command) string {
	return strings.TrimSpace(cmp.Or(cc.Long, cc.Short)) + "\n\n" + cc.UsageString()
}

// showFlags shows the flags that the short help omits.
func showFlags(cc *cobra.Command) {
	cc.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = false })
	for _, sub := range cc.Commands() {
		showFlags(sub)
	}
}

// helpCommand is `sonde help [command]`.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [command]",
		Short:  "Help about a command",
		Hidden: true,
		RunE: func(cc *cobra.Command, args []string) error {
			target, rest, err := cc.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return errors.New("no such command: sonde --help lists them")
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// addCompletion adds cobra's command for shell scripts, which by itself prints help for an
// unknown shell.
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
				return errors.New("completion supports bash, zsh, fish and powershell")
			}
			return cc.Help()
		}
	}
}

// completes reports whether a shell asks for completions, which offer every flag.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completeValues offers the setting's choices to shells; only settings that name
// files are completed with files.
func completeValues(cc *cobra.Command, s setting) {
	if s.arg == "FILE" {
		return
	}
	offered := slices.DeleteFunc(slices.Clone(s.choices), func(choice string) bool { return choice == "" })
	// It fails only for a flag that is not declared.
	_ = cc.RegisterFlagCompletionFunc(s.flagName(), cobra.FixedCompletions(offered, cobra.ShellCompDirectiveNoFileComp))
}
