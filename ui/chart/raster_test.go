package chart

import (
	"testing"

	"charm.land/lipgloss/v2"
)

func cells(text string, style lipgloss.Style) []Cell {
	var row []Cell
	for _, r := range text {
		row = append(row, Cell{r, style})
	}
	return row
}

func TestRaster(t *testing.T) {
	rows := [][]Cell{cells("░░▂█", plain), cells("ab", plain), nil, cells("below", plain)}
	wantPicture(t, Raster(3, 3, rows), "░▂█", " ab", "   ")
	wantPicture(t, Raster(3, 5, rows[:1]), "░▂█", "   ", "   ", "   ", "   ")
}

func TestRasterStyles(t *testing.T) {
	row := append(cells("ab", red), cells("c ", green)...)
	wantString(t, Raster(5, 1, [][]Cell{row})[0], " "+redOn+"ab"+off+greenOn+"c"+off+" ")
}

func TestEqualLookingStylesAreOneRun(t *testing.T) {
	row := append(cells("a", red), cells("b", lipgloss.NewStyle().Foreground(lipgloss.Red))...)
	wantString(t, Raster(2, 1, [][]Cell{row})[0], redOn+"ab"+off)
	wantString(t, Raster(1, 1, [][]Cell{cells("a", lipgloss.NewStyle().Bold(true).Faint(true))})[0], "\x1b[1;2ma"+off)
}

func BenchmarkRaster(b *testing.B) {
	rows := make([][]Cell, 16)
	for i := range rows {
		rows[i] = append(cells("░░░░░░░░▂▂▂▂▂▂▂▂▂▂▂", red), cells("█▂▂▂▂▂▂▂▂▂▂▂", green)...)
	}
	b.ReportAllocs()
	for b.Loop() {
		Raster(40, 16, rows)
	}
}
