package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sonde/probe/bench"
)

// Save writes, into new files of the folder, the Summary of the load that is on, the
// picture of the screen, and, as soon as a level has settled, the report of all levels:
//
//	sonde-HOST-TIME.json          Summary
//	sonde-HOST-TIME.svg           screen
//	sonde-HOST-TIME.md            report
//	sonde-HOST-TIME-levels.json   the same, a SweepSummary
//	sonde-HOST-TIME-curve.svg     its curve
//
// It returns what was saved, in words: the name, and its endings. It never overwrites.
func Save(dir string, k *bench.Keeper, now time.Time, screen string) (string, error) {
	outcome, levels := k.Outcome(), k.Sweep()
	summary, report := New(&outcome), NewSweep(&levels)
	files := append([]part{
		{".json", func(string) writer { return summary.WriteJSON }},
		{".svg", func(string) writer { return text(screen) }},
	}, report.parts()...)
	saved, err := saveParts(stemOf(dir, k.Source().Host, now), files)
	if err == nil && len(files) == 2 {
		saved += "; the report of levels follows once one has settled"
	}
	return saved, err
}

// SaveRecording writes a picture of a recording into a new file of the folder, named for
// the recording, and the report of its levels beside it; see Save.
func SaveRecording(dir, recording string, now time.Time, screen string, levels bench.SweepOutcome) (string, error) {
	report := NewSweep(&levels)
	name := strings.TrimSuffix(filepath.Base(recording), filepath.Ext(recording))
	files := append([]part{{".svg", func(string) writer { return text(screen) }}}, report.parts()...)
	return saveParts(stemOf(dir, name, now), files)
}

func stemOf(dir, of string, now time.Time) string {
	return filepath.Join(dir, fmt.Sprintf("sonde-%s-%s", fileName(of), now.Format("20060102-150405")))
}

// parts are the files of a report; none until a level has settled.
func (s *SweepSummary) parts() []part {
	settled := func(l Level) bool { return l.Settled }
	if !slices.ContainsFunc(s.Levels, settled) && !slices.ContainsFunc(s.Others, settled) {
		return nil
	}
	return []part{
		{".md", func(stem string) writer {
			illustrated := *s
			illustrated.picture = stem + curveEnding
			return illustrated.WriteMarkdown
		}},
		{"-levels.json", func(string) writer { return s.WriteJSON }},
		{curveEnding, func(string) writer { return s.WriteSVG }},
	}
}

// curveEnding is how the name of a picture of the curve ends.
const curveEnding = "-curve.svg"

// writer writes a file's text.
type writer = func(io.Writer) error

// part is one of several files that share a name and differ in its ending; write gets
// that name.
type part struct {
	ending string
	write  func(stem string) writer
}

// saveParts writes files under a name that none of them had before, with a number behind
// it where it has to be, and returns the name with all endings. What was written before
// an error stays, and the error names it.
func saveParts(stem string, files []part) (string, error) {
	for n := 1; ; n++ {
		name := stem
		if n > 1 {
			name = fmt.Sprintf("%s-%d", stem, n)
		}
		if taken(name, files) {
			continue
		}
		endings := []string{}
		for _, f := range files {
			if err := create(name+f.ending, f.write(name)); err != nil {
				return "", notWritten(name, f.ending, endings, err)
			}
			endings = append(endings, f.ending)
		}
		return name + strings.Join(endings, " "), nil
	}
}

// taken reports whether one of the files is there already.
func taken(name string, files []part) bool {
	for _, f := range files {
		if _, err := os.Lstat(name + f.ending); err == nil {
			return true
		}
	}
	return false
}

// notWritten says in one sentence which file could not be written, why, and what there
// is of the others.
func notWritten(name, ending string, written []string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	rest := ""
	if len(written) > 0 {
		rest = "; saved: " + strings.Join(written, " ")
	}
	return fmt.Errorf("%s cannot be written: %w%s", filepath.Base(name)+ending, err, rest)
}

// text writes a text.
func text(s string) writer {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// create writes a file that must not exist yet. One that cannot be written to its end is
// removed.
func create(path string, write writer) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
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
