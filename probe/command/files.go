package command

import (
	"context"
	"os"

	"sonde/config"
	"sonde/probe/report"
	"sonde/probe/setup"
)

// plan does the arithmetic of capacity.
func plan(_ context.Context, c config.Config) error {
	if err := report.CheckOut(c.Out); err != nil {
		return setup.Usage(err)
	}
	p, err := setup.Capacity(c)
	if err != nil {
		return setup.Usage(err)
	}
	return report.Write(p, c.Out, c.Format, c.Color, os.Stdout)
}

// compareRuns sets runs before a change against runs after it.
func compareRuns(ctx context.Context, c config.Config) error {
	return fromFiles(ctx, c, func(ctx context.Context) (outcome, error) { return setup.Compare(ctx, c) })
}

// mergeSummaries adds the summaries of several clients.
func mergeSummaries(ctx context.Context, c config.Config) error {
	return fromFiles(ctx, c, func(context.Context) (outcome, error) { return setup.Merge(c) })
}

// fromFiles writes what follows from files of results. Every error of read is wrong usage.
func fromFiles(ctx context.Context, c config.Config, read func(context.Context) (outcome, error)) error {
	if err := report.CheckOut(c.Out); err != nil {
		return setup.Usage(err)
	}
	ctx, stop := setup.Interruptible(ctx)
	defer stop()
	result, err := read(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return setup.Usage(err)
	}
	return ended(ctx, result, c, nil)
}
