package theme

import (
	"fmt"
	"math"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// light is linear red, green and blue, from 0 to 1.
type light [3]float64

// lightOf is a colour of the upper 240 of the 256-colour palette.
func lightOf(t *testing.T, color string) (rgb light) {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(color, &n); err != nil || n < 16 {
		t.Fatalf("%q is not of the upper palette", color)
	}
	levels := [6]int{0, 95, 135, 175, 215, 255}
	bytes := [3]int{8 + 10*(n-232), 8 + 10*(n-232), 8 + 10*(n-232)}
	if n < 232 {
		bytes = [3]int{levels[(n-16)/36], levels[(n-16)/6%6], levels[(n-16)%6]}
	}
	for i, b := range bytes {
		if v := float64(b) / 255; v <= 0.04045 {
			rgb[i] = v / 12.92
		} else {
			rgb[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

// luminance is that of WCAG.
func (l light) luminance() float64 { return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }

// all are the colours of a theme by their key, those of gaps by a number behind it.
func (c *colours) all() map[string]string {
	all := map[string]string{}
	for key, colour := range c.meanings() {
		all[key] = *colour
	}
	for i, colour := range c.gaps {
		all[fmt.Sprint("gaps", i)] = colour
	}
	return all
}

// bold are the colours that make up for a low contrast by their weight, or that are no text.
var bold = map[string]bool{
	"p95": true, "second": true, "warn": true, "bad": true, "slo": true, "calm": true,
	"gaps0": true, "gaps1": true, "gaps2": true, "gaps3": true, "gaps4": true,
}

func TestColoursCanBeRead(t *testing.T) {
	for name, backgrounds := range map[string]struct {
		luminances  []float64
		text, heavy float64
	}{
		"default": {[]float64{0, 1}, 4.5, 3}, "high-contrast": {[]float64{0}, 7, 7}, "light": {[]float64{1}, 4.5, 4.5},
	} {
		many := builtIn[name].many
		for key, colour := range many.all() {
			for _, background := range backgrounds.luminances {
				own, least := lightOf(t, colour).luminance(), backgrounds.text
				if bold[key] {
					least = backgrounds.heavy
				}
				if got := (max(own, background) + 0.05) / (min(own, background) + 0.05); got < least {
					t.Errorf("%s: %s (%s) has a contrast of %.2f on luminance %v, want %v", name, key, colour, got, background, least)
				}
			}
		}
	}
	th := New(colorprofile.ANSI256, false)
	if !th.P95.GetBold() || !th.Warn.GetBold() || !th.Bad.GetBold() {
		t.Error("a colour below 4.5 is not bold")
	}
}

// blindness turns linear RGB into what people without one kind of cone see, by Viénot,
// Brettel and Mollon (1999).
var blindness = map[string][3]light{
	"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
	"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
}

// seen is the colour in L*a*b*, for one kind of eyes.
func (l light) seen(eyes [3]light) (lab [3]float64) {
	var rgb light
	for i, row := range eyes {
		rgb[i] = row[0]*l[0] + row[1]*l[1] + row[2]*l[2]
	}
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.9505)
	y := f(rgb.luminance())
	z := f((0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// Curves and cells that stand side by side without a sign differ for every eye. A
// difference of 20 in L*a*b* is one that nobody overlooks.
func TestNoPairDiffersByRedAndGreenAlone(t *testing.T) {
	pairs := [][2]string{{"p50", "p95"}, {"p95", "p99"}, {"p50", "p99"}, {"first", "second"}, {"gaps2", "gaps3"}, {"gaps2", "gaps4"}, {"gaps3", "gaps4"}}
	for _, name := range []string{"default", "high-contrast", "light"} {
		many := builtIn[name].many
		all := many.all()
		for kind, eyes := range blindness {
			for _, p := range pairs {
				a, b := lightOf(t, all[p[0]]).seen(eyes), lightOf(t, all[p[1]]).seen(eyes)
				if d := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]); d < 20 {
					t.Errorf("%s, %s: %s and %s differ by %.0f", name, kind, p[0], p[1], d)
				}
			}
		}
	}
}
