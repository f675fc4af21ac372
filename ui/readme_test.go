package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The README's table of keys is the help of the screen, line by line.
func TestREADMEListsTheKeys(t *testing.T) {
	raw, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "| key | what it does |\n|---|---|\n")
	got, _, _ := strings.Cut(rest, "\n\n")
	var want []string
	for _, h := range hints(commands()) {
		want = append(want, fmt.Sprintf("| `%s` | %s |", h.shown, h.text))
	}
	if got != strings.Join(want, "\n") {
		t.Errorf("the table of keys should be\n%s", strings.Join(want, "\n"))
	}
}
