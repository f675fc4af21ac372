package chart

import (
	"math"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

var nan, inf = math.NaN(), math.Inf(1)

// upTo is a linear scale from 0 to max.
func upTo(max float64) options { return options{Scale: Scale{Max: max}} }

// Eight dot columns and eight dot rows: a value from 0 to 7 in each makes a diagonal.
// Two steps of it in a cell are ⡠ (dots 7 and 6) in its lower, ⠊ (2 and 4) in its upper half.
func TestRisingLine(t *testing.T) {
	y := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	wantPicture(t, drawLines(4, 2, upTo(7), series{Y: y}),
		"  ⡠⠊",
		"⡠⠊  ")
}

func TestFallingLineInASCII(t *testing.T) {
	o := upTo(3)
	o.ASCII = true
	wantPicture(t, drawLines(4, 4, o, series{Mark: 'o', Y: []float64{3, 3, 2, 2, 1, 1, 0, 0}}),
		"o   ",
		" o  ",
		"  o ",
		"   o")
}

// From the bottom to the top of one cell: half of the way lies in the left column
// (dots 7 and 3), half in the right one (dots 5 and 4).
func TestJumpIsConnected(t *testing.T) {
	wantPicture(t, drawLines(1, 1, upTo(3), series{Y: []float64{0, 3}}), "⡜")
	wantPicture(t, drawLines(1, 1, upTo(3), series{Y: []float64{3, 0}}), "⢣")
}

func TestGapsCutTheLine(t *testing.T) {
	y := []float64{0, nan, 0, 0, nan, nan, 0, nan}
	wantPicture(t, drawLines(4, 1, upTo(3), series{Y: y}), "⡀⣀ ⡀")
	// With a gap between them, top and bottom are not joined.
	wantPicture(t, drawLines(2, 1, upTo(3), series{Y: []float64{0, nan, 3, nan}}), "⡀⠁")
}

func TestNewestIsAtTheRightEdge(t *testing.T) {
	wantPicture(t, drawLines(3, 1, upTo(3), series{Y: []float64{0}}), "  ⢀")
	wantPicture(t, drawLines(2, 1, upTo(3), series{Y: []float64{3, 3, 3, 3, 3, 0, 0, 0}}), "⢣⣀")
	wantPicture(t, drawLines(2, 1, upTo(3)), "  ")
}

func TestValuesBeyondTheScale(t *testing.T) {
	o := upTo(3)
	y := []float64{-5, -5, math.Inf(-1), 0, 1e300, nan, inf, nan}
	wantPicture(t, drawLines(4, 2, o, series{Y: y}),
		"  ▲▲",
		"⣀⣸  ") // the line rises to the value it cannot show
	o.ASCII = true
	wantPicture(t, drawLines(2, 2, o, series{Y: []float64{nan, 4, nan, 3}}),
		"▲*",
		"  ")
}

// On two decades in eight dot rows, 10 is the lowest of the upper four; 0 and below have
// no logarithm and lie at the bottom.
func TestLogScale(t *testing.T) {
	o := options{Scale: Scale{Min: 1, Max: 100, Log: true}}
	y := []float64{1, nan, 10, nan, 100, nan, 0, nan, -3, nan}
	wantPicture(t, drawLines(5, 2, o, series{Y: y}),
		" ⡀⠁  ",
		"⡀  ⡀⡀")
}

// Where lines meet, the later series gives the style and no dot is lost. Blanks are not
// styled, and neighbours of one style are one run.
func TestLaterSeriesWinsTheCell(t *testing.T) {
	low := series{Style: red, Y: []float64{0, 0, 0, 0, 0, 0}}
	high := series{Style: green, Y: []float64{3, 3}}
	wantString(t, drawLines(4, 1, upTo(3), low, high)[0], " "+redOn+"⣀⣀"+off+greenOn+"⣉"+off)
	wantString(t, drawLines(4, 1, upTo(3), high, low)[0], " "+redOn+"⣀⣀⣉"+off)
}

func TestRunGoesOnOverBlanksButNotToTheEnd(t *testing.T) {
	s := series{Style: red, Y: []float64{0, 0, nan, nan, 0, 0, nan, nan}}
	wantString(t, drawLines(4, 1, upTo(3), s)[0], redOn+"⣀ ⣀"+off+" ")
}

func TestMarksStandBehindTheSeries(t *testing.T) {
	o := upTo(3)
	o.Marks = []int{-1, 0, 2, 3}
	s := series{Y: []float64{nan, nan, 0, 0, 0, 0}}
	wantPicture(t, drawLines(3, 2, o, s),
		"┊ ┊",
		"┊⣀⣀")
	o.ASCII = true
	wantPicture(t, drawLines(3, 2, o, s),
		"┊ ┊",
		"┊**")
}

// A scale of 0 to 8 has one dot for each unit on two rows: 3 is the upmost dot of the
// lower row, 4 the lowest of the upper one.
func TestRules(t *testing.T) {
	o := upTo(8)
	o.Rules = []rule{{Y: 3}, {Y: 4, Style: red}, {Y: 8.1}, {Y: -0.1}, {Y: nan}}
	wantPicture(t, drawLines(2, 2, o), "⡀⡀", "⠁⠁")
	wantString(t, drawLines(2, 2, o)[0], redOn+"⡀⡀"+off)
	wantPicture(t, drawLines(2, 2, o, series{Y: []float64{5, 5}}), "⡀⠤", "⠁⠁")
	o.ASCII = true
	wantPicture(t, drawLines(2, 2, o, series{Y: []float64{5, 5}}), "-*", "--")
}

func BenchmarkLines(b *testing.B) {
	y := make([]float64, 240)
	for i := range y {
		y[i] = 50 + 40*math.Sin(float64(i)/3)
	}
	o := options{Scale: Scale{Min: 0.1, Max: 100, Log: true}, Label: number, Marks: []int{30}, Rules: []rule{{Y: 60}}}
	b.ReportAllocs()
	for b.Loop() {
		drawLines(120, 20, o, series{Style: red, Y: y}, series{Style: green, Y: y[50:]}, series{Style: plain, Y: y[100:]})
	}
}

// A scale of 0 to 10 on 5 rows: a row is 2 high, the lowest holds 0 up to 2.
func TestPointsStandOnTheirSpread(t *testing.T) {
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
			got := inASCII(drawLines(3, 5, options{Scale: Scale{Min: 0, Max: 10}, Points: c.points, ASCII: true}))
			for i, want := range strings.Split(c.want, "/") {
				if strings.TrimRight(got[i], " ") != strings.TrimRight(want, " ") {
					t.Errorf("row %d is %q, want %q", i, got[i], want)
				}
			}
		})
	}
}

// A dashed line has every other cell only; in ASCII it is told by its mark.
func TestDashed(t *testing.T) {
	p := New(4, 1, Scale{Max: 1}, nil, plain)
	p.Dashed([]float64{0, 0, 0, 0, 0, 0, 0, 0}, plain, '+')
	wantPicture(t, p.Picture(), "⣀ ⣀ ")
	p = New(4, 1, Scale{Max: 1}, nil, plain)
	p.ASCII = true
	p.Dashed([]float64{0, 0, 0, 0, 0, 0, 0, 0}, plain, '+')
	wantPicture(t, p.Picture(), "++++")
}

// One dot in each second cell, counted from the newest, which nothing joins; the older value of
// a cell stands in for a missing newer one, and what is beyond the scale is left out.
func TestDottedLines(t *testing.T) {
	for _, c := range []struct {
		cells int
		ascii bool
		want  string
	}{{1, true, ",, , ,"}, {2, true, " , , ,"}, {1, false, "⢀⢀ ⢀ ⢀"}} {
		p := New(6, 1, Scale{Min: 0, Max: 10}, nil, lipgloss.NewStyle())
		p.ASCII = c.ascii
		p.Dotted([]float64{0, 0, 0, 0, nan, 99, 0, 0, nan, nan, 0, 0}, c.cells, lipgloss.NewStyle(), ',')
		if got := strings.Join(p.Picture(), "|"); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	p := New(2, 1, Scale{Min: 0, Max: 10}, nil, lipgloss.NewStyle())
	p.ASCII = true
	p.Dotted([]float64{0, nan, nan, 0}, 1, lipgloss.NewStyle(), ',')
	if got := p.Picture()[0]; got != ",," {
		t.Errorf("%q", got)
	}
}
