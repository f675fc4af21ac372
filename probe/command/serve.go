package command

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"sonde/config"
	"sonde/probe/setup"
	"sonde/probe/sim"
)

// serve runs the embedded engine for other tools.
func serve(ctx context.Context, c config.Config) error {
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	if c.Sim.Scenario == "list" {
		fmt.Print(sim.DescribeScenarios())
		return nil
	}
	engine, err := setup.Engine(c)
	if err != nil {
		return err
	}
	// This process is nothing but the engine: iterations that a collection of garbage
	// does not hold up are worth some megabytes.
	debug.SetGCPercent(1000)
	url, done, err := engine.Listen(ctx, c.Sim.Listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "embedded engine at %s (ctrl+c to stop)\n", url)
	fmt.Fprintf(os.Stderr, "simulating %s\n", engine.Describe())
	if name, _, left := engine.Playing(); name != "" {
		fmt.Fprintf(os.Stderr, "playing %s: the incident begins in %.0f s\n", name, left.Seconds())
	}
	if err := <-done; err != nil && ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// work sends a share of an operator's load.
func work(ctx context.Context, c config.Config) error {
	defer roomyHeap()()
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	if err := setup.Work(ctx, c, func(line string) { fmt.Fprintln(os.Stderr, line) }); err != nil {
		return err
	}
	return context.Cause(ctx)
}
