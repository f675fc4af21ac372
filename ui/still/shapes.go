package still

import (
	"fmt"
	"strings"
)

// shape draws the characters that pictures are made of as shapes, because fonts
// do not agree on their widths: braille dots, blocks and lines. It reports
// whether it knew the character.
func shape(b *strings.Builder, r rune, x, y float64, fill string) bool {
	switch {
	case r >= 0x2800 && r <= 0x28ff:
		dots(b, r-0x2800, x, y, fill)
	case r >= 0x2581 && r <= 0x2588:
		h := float64(r-0x2580) / 8 * cellHeight
		rect(b, x, y+cellHeight-h, cellWidth, h, fill, 1)
	case r >= 0x2591 && r <= 0x2593: // light, medium, dark shade
		rect(b, x, y, cellWidth, cellHeight, fill, float64(r-0x2590)/4)
	default:
		path, ok := lines[r]
		if !ok {
			return false
		}
		fmt.Fprintf(b, `<path d="%s" transform="translate(%.1f %.1f)" stroke="%s" fill="none"/>`, path, x, y, fill)
	}
	return true
}

// brailleDots are the places of the eight dots, by bit: column and row.
var brailleDots = [8][2]float64{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}

const dotRadius = 1.3

func dots(b *strings.Builder, bits rune, x, y float64, fill string) {
	for i, at := range brailleDots {
		if bits&(1<<i) != 0 {
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s"/>`,
				x+(at[0]+0.5)*cellWidth/2, y+(at[1]+0.5)*cellHeight/4, dotRadius, fill)
		}
	}
}

func rect(b *strings.Builder, x, y, w, h float64, fill string, opacity float64) {
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"`, x, y, w, h, fill)
	if opacity < 1 {
		fmt.Fprintf(b, ` fill-opacity="%.2f"`, opacity)
	}
	b.WriteString("/>")
}

// lines are box-drawing characters as SVG paths within a cell of 8.4 × 17.
var lines = map[rune]string{
	'─': "M0 8.5H8.4", '│': "M4.2 0V17", '┤': "M4.2 0V17M0 8.5H4.2", '┴': "M0 8.5H8.4M4.2 0V8.5",
	'╭': "M4.2 17V12.7Q4.2 8.5 8.4 8.5", '╮': "M0 8.5Q4.2 8.5 4.2 12.7V17",
	'╰': "M4.2 0V4.3Q4.2 8.5 8.4 8.5", '╯': "M4.2 0V4.3Q4.2 8.5 0 8.5",
	'┊': "M4.2 1V4M4.2 6V9M4.2 11V14",
}
