package chart

import (
	"math"
	"slices"
	"testing"

	"charm.land/lipgloss/v2"
)

func TestBins(t *testing.T) {
	f := float32(math.Inf(1))
	samples := []float32{0, 1, 2, 3, 4, 4, 5, f, -f, -1, float32(math.NaN())}
	// Rows are 0–2 and 2–4; what is below counts as lowest, 5 and ∞ are beyond.
	if got, want := Bins(2, Scale{Max: 4}, samples), []uint32{4, 4, 2}; !slices.Equal(got, want) {
		t.Errorf("linear: %v, want %v", got, want)
	}
	samples = []float32{0, 1, 9, 10, 99, 100, 101}
	if got, want := Bins(2, Scale{Min: 1, Max: 100, Log: true}, samples), []uint32{3, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("log: %v, want %v", got, want)
	}
	if got := Bins(0, Scale{Max: 4}, samples); got != nil {
		t.Errorf("no rows: %v", got)
	}
}

// The largest count, 8, has four binary digits: 1 is level 1 of 4, 2 and 3 level 2, 4 to
// 7 level 3.
func TestDensityShades(t *testing.T) {
	o := DensityOptions{Scale: Scale{Max: 2}}
	columns := [][]uint32{{1, 0, 0}, {2, 3, 0}, {4, 7, 0}, {8, 1, 0}}
	wantPicture(t, Density(5, 2, o, columns),
		"  ▒▓░",
		" ░▒▓█")
	o.Shades = []lipgloss.Style{red, green}
	wantString(t, Density(4, 2, o, columns)[1], redOn+"░▒"+off+greenOn+"▓█"+off)
	// What is beyond the scale is bright, however little.
	wantString(t, Density(2, 1, o, [][]uint32{{1, 0}, {8, 1}})[0], redOn+"░"+off+greenOn+"▲"+off)
}

// densityOf counts the samples of each column, then draws them.
func densityOf(w, h int, o DensityOptions, columns [][]float32) []string {
	binned := make([][]uint32, len(columns))
	for i, samples := range columns {
		binned[i] = Bins(h, o.Scale, samples)
	}
	return Density(w, h, o, binned)
}

func TestDensityFromSamples(t *testing.T) {
	o := DensityOptions{Scale: Scale{Min: 1, Max: 100, Log: true}, Label: number, Marks: []int{0, 2}}
	columns := [][]float32{{5, 5}, {50}, nil, {500, 5}}
	// Of a largest count of 2, 1 is the second level of four.
	wantPicture(t, densityOf(8, 2, o, columns),
		"100┤┊▒┊▲",
		"  1┤█ ┊▒")
	o.Marks = nil
	wantPicture(t, densityOf(8, 2, o, append(columns, []float32{1, 1})),
		"100┤▒ ▲ ",
		"  1┤  ▒█")
	// Too narrow for the axis.
	wantPicture(t, densityOf(7, 2, o, columns),
		"    ▒ ▲",
		"   █  ▒")
}

func TestColumnsOfAnotherHeightStayBlank(t *testing.T) {
	columns := [][]uint32{{1, 1}, {1, 1, 0}, nil, {1, 1, 1, 1}}
	wantPicture(t, Density(4, 2, DensityOptions{}, columns), " █  ", " █  ")
}

// denseColumns is 120 slices of 16 streams at 70 tokens/s.
func denseColumns() [][]float32 {
	columns := make([][]float32, 120)
	for i := range columns {
		for j := range 1120 {
			columns[i] = append(columns[i], float32(10+j%37+i%5))
		}
	}
	return columns
}

func densityOptions() DensityOptions {
	return DensityOptions{Scale: Scale{Min: 1, Max: 1000, Log: true}, Label: number, Shades: []lipgloss.Style{red, green, plain}}
}

func BenchmarkDensity(b *testing.B) {
	o := densityOptions()
	var binned [][]uint32
	for _, samples := range denseColumns() {
		binned = append(binned, Bins(20, o.Scale, samples))
	}
	b.ReportAllocs()
	for b.Loop() {
		Density(120, 20, o, binned)
	}
}
