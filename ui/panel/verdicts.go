package panel

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/diagnose"
	"sonde/ui/chart"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// VerdictLines are the verdict below the panels: its sentence, its advice, and the evidence that
// there is room for. On one line there is no advice.
func VerdictLines(t *theme.Palette, v diagnose.Verdict, w, h int) []string {
	if v.Advice == "" || h < 2 {
		return chart.Fit(verdictLines(t, v, w, h), w, h)
	}
	lines := verdictLines(t, v, w, h-1)
	lines = append(lines, t.Dim.Render("   → "+text.CleanTo(v.Advice, w-5)))
	return chart.Fit(lines, w, h)
}

// verdictLines are the sentence and as many whole pieces of evidence as fit into h lines,
// broken between words.
func verdictLines(t *theme.Palette, v diagnose.Verdict, w, h int) []string {
	sign, style := VerdictSign(t, v.Severity)
	sentence, inner := text.CleanOr(v.Text, noVerdict), w-3
	lines := text.Wrap(sentence, inner)
	if len(lines) > h {
		lines = append(lines[:h-1], text.ClipWords(strings.Join(lines[h-1:], " "), inner))
	}
	all := sentence
	for i, e := range v.Evidence {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		all += separator + text.Clean(e)
		if longer := text.Wrap(all, inner); len(longer) <= h {
			lines = longer
		}
	}
	return text.AfterSign(" "+sign+" ", lines, ansi.StringWidth(sentence), style, t.Dim)
}

const noVerdict = "no verdict yet"

// AllVerdicts are all verdicts in full, and the rules that were ruled out or inconclusive.
func AllVerdicts(v *View, w int) []string {
	t := v.Theme
	if len(v.Verdicts) == 0 {
		return append([]string{t.Dim.Render(" " + noVerdict)}, otherRules(v, w)...)
	}
	var lines []string
	for i, d := range v.Verdicts {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, WholeVerdict(t, &d, w)...)
	}
	return append(append(lines, incidentLog(v, w)...), otherRules(v, w)...)
}

// WholeVerdict is a verdict with all of its evidence and its advice.
func WholeVerdict(t *theme.Palette, v *diagnose.Verdict, w int) []string {
	sign, style := VerdictSign(t, v.Severity)
	lines := text.AfterSign(" "+sign+" ", text.Wrap(text.CleanOr(v.Text, noVerdict), w-4), len(v.Text), style, t.Dim)
	for _, e := range v.Evidence {
		lines = append(lines, text.Indented("   · ", text.Clean(e), w, t.Plain)...)
	}
	if v.Advice != "" {
		lines = append(lines, text.Indented("   → ", text.Clean(v.Advice), w, t.Plain)...)
	}
	return lines
}

// shownIncidents is how many of the newest incidents are listed.
const shownIncidents = 20

// incidentLog lists the bad times of the session, the newest first.
func incidentLog(v *View, w int) []string {
	t := v.Theme
	if len(v.Incidents) == 0 {
		return nil
	}
	newest := v.Incidents[max(0, len(v.Incidents)-shownIncidents):]
	span := 0
	for i := range newest {
		span = max(span, ansi.StringWidth(newest[i].Span()))
	}
	lines := []string{"", t.Bold.Render(" incidents")}
	for _, i := range slices.Backward(newest) {
		sign, style := VerdictSign(t, i.Severity)
		lead := " " + style.Render(sign) + " " + text.Pad(i.Span(), span) + "  "
		lines = append(lines, text.Indented(lead, text.Clean(i.Text), w, t.Plain)...)
	}
	return lines
}

// otherRules are those that do not hold, and those that could not be judged.
func otherRules(v *View, w int) (lines []string) {
	for _, l := range []struct {
		lead  string
		rules []diagnose.Rule
	}{{"Ruled out: ", v.Checked.RuledOut}, {"Inconclusive (not enough data): ", v.Checked.Inconclusive}} {
		if len(l.rules) > 0 {
			names := make([]string, len(l.rules))
			for i, r := range l.rules {
				names[i] = ruleWords.Replace(string(r))
			}
			lines = append(append(lines, ""), text.Indented("   ", l.lead+strings.Join(names, ", "), w, v.Theme.Dim)...)
		}
	}
	return lines
}

// ruleWords writes the name of a rule as words.
var ruleWords = strings.NewReplacer("_", " ", "gpu", "GPU", "kv", "KV", "slow", "slow", "slo", "SLO", "ttft", "TTFT", "tpot", "TPOT", "e2e", "E2E")

// VerdictSign is the sign and the colour of a severity.
func VerdictSign(t *theme.Palette, s diagnose.Severity) (string, lipgloss.Style) {
	switch s {
	case diagnose.Healthy:
		return theme.SignGood, t.Good
	case diagnose.Info:
		return theme.SignNote, t.Note
	case diagnose.Warn:
		return theme.SignWarn, t.Warn
	case diagnose.Bad:
		return theme.SignBad, t.Bad
	}
	return "·", t.Dim
}
