package report

import (
	"fmt"
	"io"
	"strings"

	"sonde/probe/bench"
	"sonde/probe/report/page"
)

// briefLevels bounds the lines of a long session.
const briefLevels = 24

// WriteBrief writes a table of the newest loads that were on: a line each.
func WriteBrief(w io.Writer, k *bench.Keeper) error {
	var b strings.Builder
	levels := levelsOf(k.Outcomes())
	levels = levels[max(0, len(levels)-briefLevels):]
	if len(levels) == 0 {
		fmt.Fprintf(&b, "sonde %s: no request ended\n", page.Plain(k.Source().URL))
		_, err := io.WriteString(w, b.String())
		return err
	}
	t := &levels[len(levels)-1].Target
	fmt.Fprintf(&b, "sonde %s  %s\n", word(t.URL), word(t.Model))
	row := func(cells ...string) {
		line := pad(cells[0], briefWidths[0])
		for i, c := range cells[1:] {
			line += right(c, briefWidths[i+1])
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	row("load", "s", "ok", "failed", "TTFT p50", "p95", "TPOT p50", "p95", "tok/s")
	for i := range levels {
		s := &levels[i]
		row(s.brief(), figure(s.DurationS), fmt.Sprint(s.Requests.OK), fmt.Sprint(s.Requests.Failed),
			figure(s.LatencyMS.TTFT.P50), figure(s.LatencyMS.TTFT.P95),
			figure(s.LatencyMS.TPOT.P50), figure(s.LatencyMS.TPOT.P95), figure(s.Rates.OutputPerS))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// briefWidths make 79 cells.
var briefWidths = [...]int{14, 7, 6, 8, 10, 8, 10, 8, 8}

// brief names the level in a few letters: streams or rate, prompt, output.
func (l *Level) brief() string {
	return fmt.Sprintf("%s × %s/%d", l.amount(), whole(l.Load.InputTokens), l.Load.OutputTokens)
}
