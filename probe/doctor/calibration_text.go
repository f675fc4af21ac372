package doctor

import (
	"fmt"
	"math"
	"slices"

	"sonde/probe/opt"
	"sonde/probe/report/page"
	"sonde/probe/units"
)

// ExitCode is that of the command: a calibration cannot fail.
func (c *Calibration) ExitCode() int { return 0 }

// Text is the result as wide as its tables and without colour.
func (c *Calibration) Text(int, bool) string {
	text := page.Text{Width: math.MaxInt}
	text.Line(c.title())
	for _, s := range c.sections() {
		text.Section(s)
	}
	return text.String()
}

// Markdown is the result for a README.
func (c *Calibration) Markdown() string {
	var md page.Markdown
	md.Linef("%s", page.Escape(c.title()))
	for _, s := range c.sections() {
		md.Section(s)
	}
	return md.String()
}

func (c *Calibration) title() string {
	return fmt.Sprintf("Error of sonde on this machine (%s/%s, %d cores): |measured − true|, ms", c.OS, c.Arch, c.Cores)
}

func (c *Calibration) sections() []page.Section {
	errors := page.Section{Columns: []page.Column{
		{Title: "streams", Width: 7}, {Title: "  tokens", Width: 17, Left: true}, {Title: "stamps", Width: 6, Left: true},
		{Title: "TTFT p50", Width: 11}, {Title: "p99", Width: 9}, {Title: "max", Width: 9},
		{Title: "gap p50", Width: 11}, {Title: "p99", Width: 9}, {Title: "max", Width: 9},
		{Title: "late p99", Width: 11}, {Title: "CPU µs/token", Width: 15},
	}}
	for _, r := range c.Rounds {
		errors.Rows = append(errors.Rows, []string{
			units.WholeCommas(float64(r.Streams)), "  " + r.timing(), r.Stamps,
			fine(r.TTFT.P50), fine(r.TTFT.P99), fine(r.TTFT.Max),
			fine(r.Gap.P50), fine(r.Gap.P99), fine(r.Gap.Max), fine(r.Late), units.Known(r.CPUUS, units.Tenth),
		})
	}
	ramp := page.Section{Columns: []page.Column{
		{Title: "tokens/s sent", Width: 14}, {Title: "received", Width: 11}, {Title: "late p99", Width: 11},
		{Title: "client cores", Width: 15}, {Title: "all cores", Width: 12}, {Title: "  kept up", Width: 9, Left: true},
	}}
	for _, s := range c.Ramp {
		keptUp := "  yes"
		if !s.Followed {
			keptUp = "  no"
		}
		ramp.Rows = append(ramp.Rows, []string{units.WholeCommas(s.Asked), units.WholeCommas(s.Rate), fine(s.Late), units.Known(s.Cores, units.Tenth), units.Known(s.AllCores, units.Tenth), keptUp})
	}
	return []page.Section{errors, ramp, {Title: "Result", Lines: slices.Concat(c.Budget, c.Notes, c.remarks())}}
}

// remarks are what a reader has to know to trust the figures.
func (c *Calibration) remarks() []string {
	var lines []string
	doubt, interrupted := opt.Float{}, 0
	for _, r := range c.Rounds {
		interrupted += r.Interrupted
		if r.Doubt.OK && (!doubt.OK || r.Doubt.V > doubt.V) {
			doubt = r.Doubt
		}
		if r.Lost > 0 {
			lines = append(lines, fmt.Sprintf("%d requests of %s streams were lost: %s.", r.Lost, units.WholeCommas(float64(r.Streams)), oneLine(r.Problem)))
		}
	}
	if doubt.OK {
		lines = append(lines, "The server knows when it sent a token to within "+roundedUp(doubt.V)+" (p99 of how long its writes took).")
	}
	if interrupted > 0 {
		lines = append(lines, units.Count(interrupted, "write")+" of the server took more than 1 ms: when these tokens were sent is unknown, and they are left out.")
	}
	return lines
}

// fineMS is an error that no gap of an engine hides: one percent of the fastest
// decoding in practice.
const fineMS = 0.1

// budget says in words how right the measurement is: up to how many streams it is
// fine, how good it is with the most, and which rate it keeps up with.
func (c *Calibration) budget() []string {
	rounds := slices.DeleteFunc(slices.Clone(c.Rounds), func(r RoundErrors) bool { return !r.Gap.P99.OK || !r.TTFT.P99.OK })
	var gap, ttft, limit float64 // the worst so far
	var finest, most string
	for i, r := range rounds {
		gap, ttft = max(gap, r.Gap.P99.V), max(ttft, r.TTFT.P99.V)
		if i+1 < len(rounds) && rounds[i+1].Streams == r.Streams {
			continue
		}
		most = fmt.Sprintf("Up to %s streams, gaps are right to %s and TTFT to %s (p99)", units.WholeCommas(float64(r.Streams)), roundedUp(gap), roundedUp(ttft))
		if limit == 0 {
			limit = max(fineMS, 2*gap) // where nothing is fine, about as good as the fewest streams
		}
		if gap <= limit {
			finest = most
		}
	}
	var lines []string
	if finest != "" {
		lines = append(lines, finest+" on this machine.")
	}
	if most != finest {
		lines = append(lines, most+".")
	}
	switch {
	case c.HighestTokensPerS.OK:
		line := fmt.Sprintf("sonde keeps up with %s tokens/s over %d streams", units.WholeCommas(c.HighestTokensPerS.V), rampStreams)
		if c.Limit != "" {
			line += "; above that, " + c.Limit
		}
		lines = append(lines, line+".")
	case c.Limit != "":
		lines = append(lines, "sonde did not keep up with any rate that was tried: "+c.Limit+".")
	}
	return lines
}

// fine writes milliseconds to a microsecond.
func fine(ms opt.Float) string {
	return units.Known(ms, func(v float64) string { return fmt.Sprintf("%.3f", v) })
}

// roundedUp writes milliseconds with two digits, never less than they are.
func roundedUp(ms float64) string {
	unit, digits := 0.01, 2
	for ms >= 100*unit {
		unit, digits = unit*10, max(0, digits-1)
	}
	// A hair off, so that 0.05 stays 0.05 in spite of its binary form.
	return fmt.Sprintf("%.*f ms", digits, max(0, math.Ceil(ms/unit-1e-9))*unit)
}
