package chart

import (
	"testing"

	"charm.land/lipgloss/v2"
)

func TestRow(t *testing.T) {
	linear, log := Scale{Max: 4}, Scale{Min: 1, Max: 100, Log: true}
	for _, c := range []struct {
		scale Scale
		v     float64
		want  int
	}{
		// Rows are 0–2 and 2–4; what is below counts as lowest, 5 and ∞ are beyond.
		{linear, -1, 0}, {linear, 1.9, 0}, {linear, 2, 1}, {linear, 4, 1}, {linear, 5, 2}, {linear, inf, 2},
		{log, 0, 0}, {log, 9, 0}, {log, 10, 1}, {log, 100, 1}, {log, 101, 2},
	} {
		if got := New(1, 2, c.scale, nil, plain).Row(c.v); got != c.want {
			t.Errorf("%g on %+v lies in row %d, want %d", c.v, c.scale, got, c.want)
		}
	}
}

// The largest count, 8, has four binary digits: 1 is level 1 of 4, 2 and 3 level 2, 4 to
// 7 level 3.
func TestDensityByCountAndRow(t *testing.T) {
	o := options{Scale: Scale{Max: 2}}
	columns := [][]uint32{{1, 0, 0}, {2, 3, 0}, {4, 7, 0}, {8, 1, 0}}
	wantPicture(t, drawDensity(5, 2, o, columns),
		"  ▒▓░",
		" ░▒▓█")
	// A row has its colour, however many samples are in it.
	o.Rows = []lipgloss.Style{red, green, red}
	wantString(t, drawDensity(4, 2, o, columns)[0], " "+greenOn+"▒▓░"+off)
	wantString(t, drawDensity(4, 2, o, columns)[1], redOn+"░▒▓█"+off)
	// What is beyond the scale has its own, however little.
	o.Rows = []lipgloss.Style{red, green}
	wantString(t, drawDensity(2, 1, o, [][]uint32{{1, 0}, {8, 1}})[0], redOn+"░"+off+greenOn+"▲"+off)
}

func bins(h int, s Scale, samples []float32) []uint32 {
	p := New(1, h, s, nil, plain)
	rows := make([]uint32, max(0, h)+1)
	for _, v := range samples {
		rows[p.Row(float64(v))]++
	}
	return rows
}

// densityOf counts the samples of each column, then draws them.
func densityOf(w, h int, o options, columns [][]float32) []string {
	binned := make([][]uint32, len(columns))
	for i, samples := range columns {
		binned[i] = bins(h, o.Scale, samples)
	}
	return drawDensity(w, h, o, binned)
}

func TestDensityFromSamples(t *testing.T) {
	o := options{Scale: Scale{Min: 1, Max: 100, Log: true}, Label: number, Marks: []int{0, 2}}
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

func densityOptions() options {
	return options{Scale: Scale{Min: 1, Max: 1000, Log: true}, Label: number, Rows: make([]lipgloss.Style, 21)}
}

func BenchmarkDensity(b *testing.B) {
	o := densityOptions()
	var binned [][]uint32
	for _, samples := range denseColumns() {
		binned = append(binned, bins(20, o.Scale, samples))
	}
	b.ReportAllocs()
	for b.Loop() {
		drawDensity(120, 20, o, binned)
	}
}
