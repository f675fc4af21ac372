package config

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// tree builds the cobra commands from ours.
type tree struct {
	build          BuildInfo
	actions        Actions
	stdout, stderr io.Writer
}

func (t *tree) root() *cobra.Command {
	root := t.command(commands[0])
	for _, c := range commands[1:] {
		root.AddCommand(t.command(c))
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(t.stdout)
	root.SetErr(t.stderr)
	root.AddCommand(manCommand(t), serverCommand(t))
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(t.help)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return explainFlag(c.Flags(), err) })
	addCompletion(root)
	addVersion(root, t.build.String())
	return root
}

// command turns one of ours into one of cobra's.
func (t *tree) command(c command) *cobra.Command {
	name := cmp.Or(c.name, "sonde")
	cc := &cobra.Command{
		Use:     strings.TrimSpace(name + " " + c.args),
		Short:   c.short,
		Long:    c.long,
		Example: c.example,
		RunE:    func(cc *cobra.Command, args []string) error { return t.run(c, cc, args) },
		// Arguments are checked in run, where the complaint can be of use.
		Args: cobra.ArbitraryArgs,
	}
	cc.Flags().SortFlags = false
	for _, s := range c.settings(&Config{}) {
		if s.flagOf(c.name) {
			addFlag(cc.Flags(), s, slices.Contains(c.common, s.key))
			completeValues(cc, s)
		}
	}
	cc.Flags().Bool(flagPrintConfig, false, "print the current settings as a file and exit")
	cc.Flags().Lookup(flagPrintConfig).Hidden = true
	cc.Flags().Bool(flagHelpAll, false, "show every flag")
	return cc
}

const (
	flagPrintConfig = "print-config"
	flagHelpAll     = "help-all"
)

// run resolves the Config and runs the action.
func (t *tree) run(c command, cc *cobra.Command, args []string) error {
	if all, _ := cc.Flags().GetBool(flagHelpAll); all {
		showFlags(cc)
		return cc.Help()
	}
	r, err := t.resolve(c, cc, args)
	if err != nil {
		return err
	}
	if warning := r.file.exposure(); warning != "" {
		say(t.stderr, "warning: "+warning)
	}
	if show, _ := cc.Flags().GetBool(flagPrintConfig); show {
		return failed(r.print(t.stdout))
	}
	return failed(t.actions[c.name](cc.Context(), r.config))
}

// resolve takes the settings of a command from all places.
func (t *tree) resolve(c command, cc *cobra.Command, args []string) (*resolved, error) {
	if c.many {
		r, warning, err := resolveTargets(c, cc.Flags(), args)
		if warning != "" {
			say(t.stderr, "warning: "+warning)
		}
		return r, err
	}
	if c.files != nil {
		r, err := resolve(c, cc.Flags(), nil)
		if err == nil {
			err = c.files(&r.config, words{args, cc.ArgsLenAtDash()})
		}
		return r, err
	}
	if c.name == "" && len(args) == 2 {
		r, warning, err := resolveBoth(cc.Context(), c, cc.Flags(), args)
		if warning != "" {
			say(t.stderr, "warning: "+warning)
		}
		return r, err
	}
	address, err := c.argument(cc.Flags(), args, resolves(cc.Context()))
	if err != nil {
		return nil, err
	}
	words := map[string]string{}
	if address != "" {
		words[cmp.Or(c.takes, "url")] = address
	}
	return resolve(c, cc.Flags(), words)
}

// Execute parses the arguments (without the program's name), reads environment and
// file, runs the action and gives the exit code. Errors end as one line on stderr.
func Execute(ctx context.Context, args []string, stdout, stderr io.Writer, build BuildInfo, a Actions) int {
	t := &tree{build: build.filled(), actions: a, stdout: stdout, stderr: stderr}
	if args == nil {
		args = []string{} // cobra would take those of the process
	}
	root := t.root()
	root.SetArgs(args)
	if completes(args) {
		showFlags(root)
	}
	return report(stderr, root.ExecuteContext(ctx))
}
