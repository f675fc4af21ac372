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

func TestRasterReplacesWhatIsNotOneCell(t *testing.T) {
	wantPicture(t, Raster(8, 1, [][]Cell{cells("a世\n\x1b\u0301🚀é\u200d", plain)}), "a?????é?")
	wantPicture(t, Raster(3, 1, [][]Cell{{{Rune: 'a'}, {}, {Rune: 'b'}}}), "a b")
}

func TestRasterStyles(t *testing.T) {
	row := append(cells("ab", red), cells("c ", green)...)
	wantString(t, Raster(5, 1, [][]Cell{row})[0], " "+redOn+"ab"+off+greenOn+"c"+off+" ")
	// A background shows on blanks that are part of it, and not on the rest.
	back := lipgloss.NewStyle().Background(lipgloss.Red).Blink(true).Padding(3)
	row = []Cell{{' ', back}, {}, {'x', back}, {}}
	wantString(t, Raster(4, 1, [][]Cell{row})[0], "\x1b[41m "+off+" \x1b[41mx"+off+" ")
}

func TestEqualLookingStylesAreOneRun(t *testing.T) {
	row := append(cells("a", red), cells("b", red.Width(9).Align(lipgloss.Right))...)
	wantString(t, Raster(2, 1, [][]Cell{row})[0], redOn+"ab"+off)
	all := lipgloss.NewStyle().Bold(true).Faint(true).Italic(true).Underline(true).Reverse(true).Strikethrough(true)
	wantString(t, Raster(1, 1, [][]Cell{cells("a", all)})[0], "\x1b[1;2;3;4;7;9ma"+off)
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
