package canary

import (
	"fmt"
	"strings"

	"sonde/probe/units"
)

// PerDay is how many tokens all targets cost in a day at most.
func PerDay(targets []Target) (tokens int) {
	for i := range targets {
		tokens += targets[i].PerDay()
	}
	return tokens
}

// Costs says what each target costs in tokens a day at most, and all of them: a line each. It
// counts what is requested; a server adds its chat template to every prompt.
func Costs(targets []Target) []string {
	var lines []string
	for i := range targets {
		t := &targets[i]
		line := fmt.Sprintf("%s: a probe of %d + %d tokens every %s, %s tokens a day",
			strings.TrimSpace(t.Name+" "+t.Model), t.Input, t.Output, units.Span(t.Interval()), units.WholeCommas(float64(t.PerDay())))
		if t.Interval() > t.Every {
			line += fmt.Sprintf(" (the budget of %s an hour stretches %s)", units.WholeCommas(float64(t.Budget)), units.Span(t.Every))
		}
		lines = append(lines, line)
	}
	if len(targets) > 1 {
		lines = append(lines, fmt.Sprintf("%d targets: %s tokens a day in all", len(targets), units.WholeCommas(float64(PerDay(targets)))))
	}
	return lines
}
