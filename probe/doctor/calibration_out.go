package doctor

import (
	"fmt"
	"strings"

	"sonde/probe/opt"
)

// errorsGrid is the errors of all rounds.
func (c *Calibration) errorsGrid() grid {
	g := grid{words: 3, head: []string{"streams", "tokens", "stamps", "TTFT p50", "p99", "max", "gap p50", "p99", "max", "late p99", "CPU µs/token"}}
	for _, r := range c.Rounds {
		pattern := map[string]string{"spread": "spread", "steps": "in steps"}[r.Pattern]
		if r.TLS {
			pattern += ", TLS"
		}
		g.rows = append(g.rows, []string{
			thousands(float64(r.Streams)), pattern, r.Stamps,
			fine(r.TTFT.P50), fine(r.TTFT.P99), fine(r.TTFT.Max),
			fine(r.Gap.P50), fine(r.Gap.P99), fine(r.Gap.Max), fine(r.Late), oneDigit(r.CPUUS),
		})
	}
	return g
}

// rampGrid is the search for the highest rate.
func (c *Calibration) rampGrid() grid {
	g := grid{words: 0, head: []string{"tokens/s asked", "came", "read late p99", "client cores", "all cores", "followed"}}
	for _, s := range c.Ramp {
		followed := "yes"
		if !s.Followed {
			followed = "no"
		}
		g.rows = append(g.rows, []string{thousands(s.Asked), thousands(s.Rate), fine(s.Late), oneDigit(s.Cores), oneDigit(s.AllCores), followed})
	}
	return g
}

// Text is the result for people. Its width is that of its tables, and it has no colour.
func (c *Calibration) Text(int, bool) string { return c.pages(grid.text, "") }

// Markdown is the result for a README.
func (c *Calibration) Markdown() string { return c.pages(grid.markdown, "\n") }

// pages writes everything, with the tables in a form.
func (c *Calibration) pages(form func(grid) string, afterLine string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Error of sonde on this machine (%s/%s, %d cores): measured minus true, absolute, ms\n\n", c.OS, c.Arch, c.Cores)
	b.WriteString(form(c.errorsGrid()))
	if len(c.Ramp) > 0 {
		b.WriteString("\nHighest rate\n\n" + form(c.rampGrid()))
	}
	b.WriteString("\n")
	for _, line := range append(c.Budget, c.remarks()...) {
		b.WriteString(line + "\n" + afterLine)
	}
	return b.String()
}

// remarks are what a reader has to know to trust the figures.
func (c *Calibration) remarks() []string {
	lines := append([]string{}, c.Notes...)
	doubt := opt.Float{}
	for _, r := range c.Rounds {
		if r.Doubt.OK && (!doubt.OK || r.Doubt.V > doubt.V) {
			doubt = r.Doubt
		}
		if r.Lost > 0 {
			lines = append(lines, fmt.Sprintf("%d requests of %s streams were lost: %s.", r.Lost, thousands(float64(r.Streams)), oneLine(r.Problem)))
		}
	}
	if doubt.OK {
		lines = append(lines, "The server's own instants are known to "+roundedUp(doubt.V)+" (p99: how long its writes took).")
	}
	return lines
}
