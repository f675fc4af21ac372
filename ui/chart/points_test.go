package chart

import (
	"math"
	"strings"
	"testing"
)

// A scale of 0 to 10 on 5 rows: a row is 2 high, the lowest holds 0 up to 2.
func TestPointsStandOnTheirSpread(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		points []Point
		want   string
	}{
		"with a spread":   {[]Point{{At: 2, Y: 5, Low: 1, High: 9, Sign: 'o'}}, " | / | / o / | / |"},
		"without":         {[]Point{{At: 0, Y: 9, Low: nan, High: nan, Sign: 'o'}}, "o/ / / / "},
		"half a spread":   {[]Point{{At: 0, Y: 9, Low: 1, High: nan, Sign: 'o'}}, "o/ / / / "},
		"beyond the top":  {[]Point{{At: 0, Y: 99, Low: 7, High: 99, Sign: 'o'}}, "o/|/ / / "},
		"no value":        {[]Point{{At: 0, Y: nan, Low: nan, High: nan, Sign: 'o'}}, " / / / / "},
		"outside of it":   {[]Point{{At: 99, Y: 5, Low: 1, High: 9, Sign: 'o'}}, " / / / / "},
		"one on another":  {[]Point{{At: 0, Y: 5, Low: 5, High: 5, Sign: 'a'}, {At: 1, Y: 5, Low: 1, High: 5, Sign: 'b'}}, " / /b/|/|"},
		"spread upturned": {[]Point{{At: 0, Y: 5, Low: 9, High: 1, Sign: 'o'}}, " / /o/ / "},
	} {
		t.Run(name, func(t *testing.T) {
			got := Lines(3, 5, LineOptions{Scale: Scale{Min: 0, Max: 10}, Points: c.points, ASCII: true})
			for i, want := range strings.Split(c.want, "/") {
				if strings.TrimRight(got[i], " ") != strings.TrimRight(want, " ") {
					t.Errorf("row %d is %q, want %q", i, got[i], want)
				}
			}
		})
	}
}
