package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sonde/probe/bench"
	"sonde/probe/plain"
)

// Save writes, into new files of the folder, the Summary of the load that is on, the
// picture of the screen and its last minutes, and, as soon as a level has settled, the report of all levels:
//
//	sonde-HOST-TIME.json          Summary
//	sonde-HOST-TIME.svg           screen
//	sonde-HOST-TIME.cast          its last minutes, an asciicast
//	sonde-HOST-TIME.md            report
//	sonde-HOST-TIME-levels.json   the same, a SweepSummary
//	sonde-HOST-TIME-curve.svg     its curve
//
// It returns what was saved, in words: the name, and its endings. It never overwrites.
func Save(dir string, k *bench.Keeper, now time.Time, screen, cast string) (string, error) {
	outcome, levels := k.Outcome(), k.Sweep()
	summary, err := Render(New(&outcome), "json", 0, false)
	if err != nil {
		return "", err
	}
	stem := newStem(dir, k.Source().Host, now)
	report, err := NewSweep(&levels).parts(stem)
	if err != nil {
		return "", err
	}
	saved, err := create(stem, append([]part{{".json", summary}, {".svg", screen}, {".cast", cast}}, report...))
	if err == nil && len(report) == 0 {
		saved += "; the report of levels follows once one has settled"
	}
	return saved, err
}

// SaveRecording writes a picture of a recording and the last minutes of the screen into new
// files of the folder, named for the recording, and the report of its levels beside it; see Save.
func SaveRecording(dir, recording string, now time.Time, screen, cast string, levels bench.SweepOutcome) (string, error) {
	stem := newStem(dir, strings.TrimSuffix(filepath.Base(recording), filepath.Ext(recording)), now)
	report, err := NewSweep(&levels).parts(stem)
	if err != nil {
		return "", err
	}
	return create(stem, append([]part{{".svg", screen}, {".cast", cast}}, report...))
}

// part is one of several files that share a name and differ in its ending.
type part struct{ ending, text string }

// curveEnding is how the name of a picture of the curve ends.
const curveEnding = "-curve.svg"

// parts are the files of a report; none until a level has settled.
func (s SweepSummary) parts(stem string) ([]part, error) {
	settled := func(l Level) bool { return l.Settled }
	if !slices.ContainsFunc(s.Levels, settled) && !slices.ContainsFunc(s.Others, settled) {
		return nil, nil
	}
	s.picture = stem + curveEnding
	levels, err := Render(s, "json", 0, false)
	return []part{{".md", s.Markdown()}, {"-levels.json", levels}, {curveEnding, s.SVG()}}, err
}

// newStem is what the names of saved files begin with, with a number behind it where one of
// them is there already.
func newStem(dir, of string, now time.Time) string {
	first := filepath.Join(dir, fmt.Sprintf("sonde-%s-%s", fileName(of), now.Format("20060102-150405")))
	stem := first
	for n := 2; slices.ContainsFunc([]string{".json", ".svg", ".cast", ".md", "-levels.json", curveEnding}, func(ending string) bool {
		_, err := os.Lstat(stem + ending)
		return err == nil
	}); n++ {
		stem = fmt.Sprintf("%s-%d", first, n)
	}
	return stem
}

// create writes files that must not exist yet, and returns their common name with all
// endings. One that cannot be written to its end is removed; what was written before it
// stays, and the error names it.
func create(stem string, files []part) (string, error) {
	saved := ""
	for _, f := range files {
		if err := createFile(stem+f.ending, f.text); err != nil {
			if saved != "" {
				saved = "; saved:" + saved
			}
			return "", fmt.Errorf("%s cannot be written: %w%s", filepath.Base(stem)+f.ending, plain.Cause(err), saved)
		}
		saved += " " + f.ending
	}
	return stem + strings.TrimSpace(saved), nil
}

func createFile(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// fileName keeps of a name what is safe in a file's name everywhere.
func fileName(s string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, s)
	return clean[:min(len(clean), 60)]
}
