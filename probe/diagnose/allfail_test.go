package diagnose

import (
	"strings"
	"testing"

	"sonde/probe/measure"
)

// Four failures in a row are chance when a third fails since trouble began
// (8/22 to the fourth is 1.7 %), however long all was well before; they are none
// when nothing had failed (1/42 to the fourth).
func TestFailuresInARow(t *testing.T) {
	before := func(pattern string) (out []endedRequest) {
		for _, c := range pattern {
			r := endedRequest{Request: &measure.Request{}}
			if c == 'x' {
				r.Class = measure.StreamError
			}
			out = append(out, r)
		}
		return out
	}
	calm := strings.Repeat("o", 40)
	for _, c := range []struct {
		name, before string
		run          int
		want         bool
	}{
		{"a third fails for a while", calm + "xooxooxooxoxoooxooxo", 4, false},
		{"all was well", calm, 4, true},
		{"one odd failure long ago", "x" + calm, 4, true},
		{"a third fails, and then nothing works", calm + "xooxooxooxoxoooxooxo", 7, true},
	} {
		if got := unlikely(before(c.before), c.run); got != c.want {
			t.Errorf("%s, then %d in a row: unlikely %v, want %v", c.name, c.run, got, c.want)
		}
	}
}
