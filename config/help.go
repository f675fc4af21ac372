package config

import (
	"errors"
	"io"
	"os"
	"strings"

	"charm.land/fang/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// colourful tells whether escape codes are welcome.
func colourful(w io.Writer) bool {
	f, ok := w.(term.File)
	return ok && term.IsTerminal(f.Fd()) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// plainHelp is cobra's own help text.
func plainHelp(cc *cobra.Command) string {
	return strings.TrimSpace(orElse(cc.Long, cc.Short)) + "\n\n" + cc.UsageString()
}

// showFlags brings the flags to light that the short help leaves out.
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
