package chart

import (
	"testing"
)

func TestAxis(t *testing.T) {
	o := options{Scale: Scale{Max: 50}, Label: number}
	wantPicture(t, drawLines(8, 1, o), "50┤     ")
	wantPicture(t, drawLines(8, 2, o),
		"50┤     ",
		" 0┤     ")
	wantPicture(t, drawLines(8, 3, o, series{Y: []float64{50, 50}}),
		"50┤    ⠉",
		"25┤     ",
		" 0┤     ")
	o.ASCII = true
	wantPicture(t, drawLines(10, 5, o, series{Y: []float64{0}}),
		"50┤       ",
		"  │       ",
		"25┤       ",
		"  │       ",
		" 0┤      *")
}

func TestAxisOfManyRowsHasRoundNumbers(t *testing.T) {
	for _, c := range []struct {
		top  float64
		want []float64
	}{
		{100, []float64{100, 0, 20, 40, 60, 80}},
		{0.5, []float64{0.5, 0, 0.1, 0.2, 0.30000000000000004, 0.4}},
		{20, []float64{20, 0, 5, 10, 15}},
	} {
		var got []float64
		for _, tick := range ticks(Scale{Max: c.top}, 20) {
			got = append(got, tick.value)
		}
		if !equal(got, c.want) {
			t.Errorf("labels up to %g: %v, want %v", c.top, got, c.want)
		}
	}
}

// Each decade has a third of the nine rows; a decade's label stands where the line has it.
func TestAxisOfDecades(t *testing.T) {
	o := options{Scale: Scale{Min: 1, Max: 1000, Log: true}, Label: number}
	wantPicture(t, drawLines(10, 9, o, series{Y: []float64{100, 100}}),
		"1000┤     ",
		"    │     ",
		" 100┤    ⣀",
		"    │     ",
		"    │     ",
		"  10┤     ",
		"    │     ",
		"    │     ",
		"   1┤     ")
}

// 5 to 200 are 1.602 decades on 13 rows. Row from the bottom is 13·log(v/5)/1.602,
// rounded down: 10 in 2, 20 in 4, 50 in 8, 100 in 10.
func TestAxisOfFewDecadesHasTheStepsBetween(t *testing.T) {
	got := map[float64]int{}
	for _, tick := range ticks(Scale{Min: 5, Max: 200, Log: true}, 13) {
		got[tick.value] = tick.row
	}
	for v, row := range map[float64]int{200: 0, 100: 2, 50: 4, 20: 8, 10: 10, 5: 12} {
		if at, ok := got[v]; !ok || at != row {
			t.Errorf("%v is labelled in row %d (%v), want %d", v, at, ok, row)
		}
	}
}

func TestAxisWithinADecade(t *testing.T) {
	o := options{Scale: Scale{Min: 1, Max: 10, Log: true}, Label: number}
	// log10 of 2 and 5 are 0.30 and 0.70: rows 3 and 6 of 9 from the bottom, counted from 1.
	wantPicture(t, drawLines(6, 9, o),
		"10┤   ", "  │   ", " 5┤   ", "  │   ", "  │   ", "  │   ", " 2┤   ", "  │   ", " 1┤   ")
}

func TestColumnsBesideTheAxis(t *testing.T) {
	long := func(float64) string { return "123 µs" }
	for _, c := range []struct {
		w, h  int
		label func(float64) string
		want  int
	}{
		{20, 5, nil, 20},
		{20, 5, number, 17}, // "50" and the line
		{20, 5, long, 13},   // six characters, seven bytes
		{13, 5, long, 13},   // no axis that takes more than half
		{14, 5, long, 7},
		{20, 0, long, 20},
		{-3, 5, long, 0},
	} {
		if got := New(c.w, c.h, Scale{Max: 50}, c.label, plain).Cols; got != c.want {
			t.Errorf("%d×%d has %d columns, want %d", c.w, c.h, got, c.want)
		}
	}
}
