package diagnose_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"sonde/probe/diagnose"
)

// The page on verdicts lists the table of rules, in its order.
func TestThePageListsTheRules(t *testing.T) {
	raw, err := os.ReadFile("../../docs/verdicts.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []diagnose.Rule
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(string(raw), -1) {
		for _, name := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(row[1], -1) {
			got = append(got, diagnose.Rule(name[1]))
		}
	}
	if want := diagnose.RuleNames(); !slices.Equal(got, want) {
		t.Errorf("the page lists\n%v, want\n%v", got, want)
	}
}
