package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sonde/config"
	"sonde/probe/compare"
	"sonde/probe/merge"
	"sonde/probe/plain"
	"sonde/probe/record"
	"sonde/probe/report"
)

// largestResults is beyond every file of levels; a recording may have gigabytes.
const largestResults = 64 << 20

// readResults reads a file of results.
func readResults(path string) ([]byte, error) {
	raw, err := plain.ReadFile(path, largestResults)
	switch {
	case errors.Is(err, plain.ErrTooLarge):
		return nil, errors.New("too large for a file from sonde bench or sonde sweep (--format json)")
	case err != nil:
		return nil, fmt.Errorf("cannot read the file: %w", plain.Cause(err))
	}
	return raw, nil
}

// readFile reads what sonde bench or sonde sweep wrote.
func readFile(path string) (*report.File, error) {
	raw, err := readResults(path)
	if err != nil {
		return nil, err
	}
	return report.ReadFile(raw)
}

// Compare compares files. Every error is wrong usage.
func Compare(ctx context.Context, c config.Config) (compare.Comparison, error) {
	ask := compare.Ask{Conditions: c.Compare.FailIf}
	if len(c.Compare.Before) == 0 || len(c.Compare.After) == 0 {
		return compare.Comparison{}, errors.New("compare needs files on both sides: sonde compare BEFORE AFTER, or BEFORE… -- AFTER…")
	}
	var err error
	if ask.Before, err = runs(ctx, c.Compare.Before); err != nil {
		return compare.Comparison{}, err
	}
	if ask.After, err = runs(ctx, c.Compare.After); err != nil {
		return compare.Comparison{}, err
	}
	return compare.Compare(ask)
}

// runs reads files of one side.
func runs(ctx context.Context, paths []string) ([]compare.Run, error) {
	var out []compare.Run
	for _, path := range paths {
		file, err := readRun(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, compare.Run{Name: path, File: file})
	}
	return out, nil
}

// readRun reads results, or what a recording amounts to.
func readRun(ctx context.Context, path string) (*report.File, error) {
	recorded, err := isRecording(path)
	if err != nil {
		return nil, err
	}
	if !recorded {
		return readFile(path)
	}
	file, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	levels, err := levelsOf(ctx, file, recordedSLOs(file))
	if err != nil {
		return nil, err
	}
	return &report.File{SweepSummary: report.NewSweep(&levels)}, nil
}

// Merge adds the summaries of several clients. Every error is wrong usage.
func Merge(c config.Config) (report.Summary, error) {
	names := shortNames(c.Merge.Files)
	var parts []merge.Part
	for i, path := range c.Merge.Files {
		summary, err := readSummary(path)
		if err != nil {
			return report.Summary{}, fmt.Errorf("%s: %w", path, err)
		}
		parts = append(parts, merge.Part{Name: names[i], Summary: summary})
	}
	return merge.Merge(parts, c.Merge.Force)
}

// readSummary reads what sonde bench wrote.
func readSummary(path string) (report.Summary, error) {
	recorded, err := isRecording(path)
	if err != nil {
		return report.Summary{}, err
	}
	if recorded {
		return report.Summary{}, errors.New("it is a recording: merge takes summaries of sonde bench (--format json)")
	}
	file, err := readFile(path)
	if err != nil {
		return report.Summary{}, err
	}
	if !file.Single {
		return report.Summary{}, errors.New("it is a sweep, whose levels ran at times of their own: merge takes summaries of sonde bench")
	}
	return file.Levels[0].Summary, nil
}

// shortNames are the names of files without folders and endings, where these are distinct.
func shortNames(paths []string) []string {
	var out []string
	for _, path := range paths {
		base := filepath.Base(path)
		name := strings.TrimSuffix(base, filepath.Ext(base))
		if slices.Contains(out, name) {
			return paths
		}
		out = append(out, name)
	}
	return out
}

// isRecording looks at how the file begins.
func isRecording(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("cannot read the file: %w", plain.Cause(err))
	}
	defer file.Close()
	start := make([]byte, 512)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("cannot read the file: %w", plain.Cause(err))
	}
	return bytes.HasPrefix(bytes.TrimSpace(start[:n]), []byte(`{"type":"`)), nil
}
