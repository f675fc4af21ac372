package config

import (
	"context"
	"io"
)

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
