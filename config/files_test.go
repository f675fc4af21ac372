package config

import (
	"slices"
	"strings"
	"testing"
)

func TestTheTwoSidesOfCompare(t *testing.T) {
	clean(t)
	for text, want := range map[string][2][]string{
		"a b":                       {{"a"}, {"b"}},
		"a -- b":                    {{"a"}, {"b"}},
		"a b -- c d e":              {{"a", "b"}, {"c", "d", "e"}},
		"--format md a b -- c":      {{"a", "b"}, {"c"}},
		"a b --fail-if tpot_p50>5%": {{"a"}, {"b"}},
	} {
		c := must(t, append([]string{"compare"}, strings.Fields(text)...)...).Compare
		if !slices.Equal(c.Before, want[0]) || !slices.Equal(c.After, want[1]) {
			t.Errorf("%s: %v and %v", text, c.Before, c.After)
		}
	}
	c := must(t, "compare", "a", "b", "--fail-if", "ttft_p95>+10%,error_share>+1point", "--fail-if", "best<-1%")
	if n := len(c.Compare.FailIf); n != 3 || c.Compare.FailIf[2].Figure != "best" {
		t.Errorf("%+v", c.Compare.FailIf)
	}
	if c := must(t, "merge", "a", "b", "c", "--force"); !slices.Equal(c.Merge.Files, []string{"a", "b", "c"}) || !c.Merge.Force {
		t.Errorf("%+v", c.Merge)
	}
}

func TestFilesThatAreNoTwoSides(t *testing.T) {
	clean(t)
	for text, want := range map[string]string{
		"a b c":                   "put -- between the runs",
		"a -- b --format md":      "flags come before the --",
		"--fail-if ttft_p95 a b":  "must look like ttft_p95>+10%",
		"--fail-if oops>+10% a b": "names no figure",
	} {
		if got := refused(t, append([]string{"compare"}, strings.Fields(text)...)...); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
