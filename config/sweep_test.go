package config

import (
	"slices"
	"testing"
	"time"
)

// Levels are streams or rates; where a ladder of rates has no cap of its own, all the room there
// is is the cap.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		args    []string
		open    bool
		amounts []float64
		streams int
	}{
		{nil, false, nil, 1},
		{[]string{"--levels", "auto", "-c", "4"}, false, nil, 4},
		{[]string{"--levels", "1, 4,8"}, false, []float64{1, 4, 8}, 1},
		{[]string{"--levels", "0.5/s,2 /s"}, true, []float64{0.5, 2}, 256},
		{[]string{"--levels", "2/s", "-c", "32"}, true, []float64{2}, 32},
		{[]string{"--rate", "2.5"}, true, nil, 256},
	} {
		clean(t)
		got := must(t, append([]string{"sweep", "h:1"}, c.args...)...)
		if s := got.Sweep; s.Open != c.open || !slices.Equal(s.Amounts, c.amounts) || got.Concurrency != c.streams || s.PerLevel != 0 {
			t.Errorf("%q: %+v, concurrency %d", c.args, s, got.Concurrency)
		}
	}
	clean(t)
	if got := must(t, "sweep", "h:1", "--per-level", "45s"); got.Sweep.PerLevel != 45*time.Second {
		t.Errorf("%v a level", got.Sweep.PerLevel)
	}
}
