package report

import (
	"fmt"
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
